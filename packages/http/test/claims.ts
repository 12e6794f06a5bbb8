/** The secret of test hosts, and the claims of a token for everything. */
import type { Claims } from "../../driver-node/src/index.ts";

export const secret = new Uint8Array(32).fill(9);

export const everything: Claims = {
  by: "ann",
  scopes: [""],
  rights: ["call", "resolve", "approve", "observe", "execute"],
  expires_at: 4_000_000_000_000,
};

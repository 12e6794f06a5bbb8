import { string, u64 } from "@pawl/tool-value";
import { Options } from "../kernel/options.ts";

export const scopeEvents = {
  "scope.opened": { epoch: u64, owner: string, protocol: u64, options: Options },
  "clock.ticked": {},
  "scope.configured": { options: Options },
  "scope.upgraded": { to: u64 },
  "scope.moving": { to: string, nonce: string },
  "scope.received": { nonce: string, epoch: u64, owner: string },
  "scope.moved": { nonce: string },
  "scope.kept": { nonce: string },
  "owner.lost": { owner: string },
} as const;

/** The root secret of wait keys lies in the journal's database: every tab over it can tell a true key. */
import type { Roots } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";
import type { Transactions } from "./transaction.ts";

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The root of a journal, made where there is none. */
export const rootsOf = async (transactions: Transactions): Promise<Roots> => {
  const fresh = crypto.getRandomValues(new Uint8Array(32));
  const secret = await transactions.write(async (at) => {
    const known = await at.objectStore("root").get("newest");
    if (known === undefined) await at.objectStore("root").put(fresh, "newest");
    return known ?? fresh;
  });
  return { newest: { kid: hashText(hex(secret)).slice(0, 8), secret } };
};

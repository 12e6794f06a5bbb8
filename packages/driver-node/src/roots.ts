/** The root secret of wait keys stands beside the journal: every process over it can tell a true key. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Roots } from "@pawl/runtime";

const pathOf = (file: string): string => `${file}.root`;

const rootsIn = (path: string): Roots => {
  const secret = readFileSync(path);
  const kid = createHash("sha256").update(secret).digest("hex").slice(0, 8);
  return { newest: { kid, secret } };
};

/** The root of a journal, made where there is none. */
export const rootsOf = (file: string): Roots => {
  const path = pathOf(file);
  if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600, flag: "wx" });
  return rootsIn(path);
};

/** The root of a journal, if it has one. */
export const knownRootsOf = (file: string): Roots | undefined => {
  const path = pathOf(file);
  return existsSync(path) ? rootsIn(path) : undefined;
};

/** Programs that some tests drive and that a fresh machine may lack. What drives them is left out there. */
import { existsSync, readdirSync } from "node:fs";

export interface Program {
  readonly name: string;
  readonly path: string;
  /** What a reader can do about it, as an order. */
  readonly remedy: string;
}

export const chromium: Program = {
  name: "Chromium",
  path: process.env["PAWL_CHROMIUM"] ?? "/usr/bin/chromium",
  remedy: "install Debian's `chromium`, or name one in PAWL_CHROMIUM",
};

const versions = "/usr/lib/postgresql";
/** Debian keeps the programs of each version apart; the newest serves. */
const newestServer = (): string => {
  const found = existsSync(versions) ? readdirSync(versions).toSorted((a, b) => Number(b) - Number(a)) : [];
  return `${versions}/${found[0] ?? "15"}/bin/postgres`;
};

export const postgres: Program = {
  name: "PostgreSQL",
  path: process.env["PAWL_POSTGRES"] ?? newestServer(),
  remedy: "install Debian's `postgresql`, or name its `postgres` in PAWL_POSTGRES",
};

export const isThere = ({ path }: Program): boolean => existsSync(path);

/** Returns the programs that are not there. A program that tests come to drive is added here. */
export const missingPrograms = (): readonly Program[] => [chromium, postgres].filter((program) => !isThere(program));

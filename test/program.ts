/** Programs that some tests drive and that a fresh machine may lack. What drives them is left out there. */
import { existsSync } from "node:fs";

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

export const isThere = ({ path }: Program): boolean => existsSync(path);

/** Returns the programs that are not there. A program that tests come to drive is added here. */
export const missingPrograms = (): readonly Program[] => [chromium].filter((program) => !isThere(program));

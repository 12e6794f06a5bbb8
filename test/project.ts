/** The project as the tests of its own shape see it. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

/** The packages that run anywhere: no platform, no clock, no chance. */
export const purePackages: readonly string[] = ["tool-value", "sansio-core"];

export const pathOf = (file: string): string => resolve(root, file);
export const textOf = (file: string): string => readFileSync(pathOf(file), "utf8");

const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
/** What is committed, or would be. */
export const files: readonly string[] = listed
  .toString()
  .split("\0")
  .filter((file) => file !== "" && existsSync(pathOf(file)));

/** `pnpm tarballs FOLDER`: builds and packs every package, for `npm install FOLDER/*.tgz`. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";

const [to] = process.argv.slice(2);
if (to === undefined) {
  console.error("pnpm tarballs: name a folder, as in `pnpm tarballs ../tarballs`.");
  process.exit(2);
}
const folder = resolve(process.env["INIT_CWD"] ?? ".", to);
mkdirSync(folder, { recursive: true });
const root = resolve(import.meta.dirname, "..");
const pnpm = (...args: readonly string[]): void => {
  execFileSync("npx", ["-y", "pnpm@12", ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
};
pnpm("build");
pnpm("--recursive", "--filter", "./packages/*", "pack", "--pack-destination", folder);
console.log(`packed into ${folder}`);

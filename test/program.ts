/** Programs that some tests drive and that a fresh machine may lack. What drives them is left out there. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

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

export const pgbouncer: Program = {
  name: "PgBouncer",
  path: process.env["PAWL_PGBOUNCER"] ?? "/usr/sbin/pgbouncer",
  remedy: "install Debian's `pgbouncer`, or name one in PAWL_PGBOUNCER",
};

const brought = join(import.meta.dirname, "runtime/node_modules");
/** Runtimes that the registry brings for most platforms. */
const ofRegistry = (name: string, path: string): Program => ({
  name,
  path: join(brought, path),
  remedy: "run `pnpm install` on a platform that it is published for",
});

export const bun = ofRegistry("Bun", "bun/bin/bun.exe");
export const deno = ofRegistry("Deno", "deno/deno");
export const node22 = ofRegistry("Node 22", "node-22/bin/node");
export const workerd = ofRegistry("workerd", "workerd/bin/workerd");

export const firefox: Program = {
  name: "Firefox",
  path: process.env["PAWL_FIREFOX"] ?? "/usr/bin/firefox-esr",
  remedy: "install Debian's `firefox-esr`, or name one in PAWL_FIREFOX",
};

const machine = process.arch === "arm64" ? "aarch64" : "x86_64";

export const webkit: Program = {
  name: "WebKitGTK",
  path: process.env["PAWL_WEBKIT"] ?? `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
  remedy: "install Debian's `libwebkit2gtk-4.1-0`, or name its `MiniBrowser` in PAWL_WEBKIT",
};

export const xvfb: Program = { name: "Xvfb", path: "/usr/bin/Xvfb", remedy: "install Debian's `xvfb`" };

const all: readonly Program[] = [chromium, postgres, bun, deno, node22, workerd, firefox, webkit, xvfb];

export const isThere = ({ path }: Program): boolean => existsSync(path);

/** Returns the programs that are not there. A program that tests come to drive is added here. */
export const missingPrograms = (): readonly Program[] => all.filter((program) => !isThere(program));

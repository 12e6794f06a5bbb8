#!/usr/bin/env node
/**
 * `pawl`, the command line. It checks Node's version before it loads modules that an old Node cannot load, and says its own
 * version without loading anything else.
 */
import process from "node:process";

const isNewEnough = process.getBuiltinModule?.("node:sqlite") !== undefined;
const asksVersion = process.argv.length === 3 && process.argv[2] === "--version";

if (!isNewEnough) {
  console.error(`pawl needs Node 22.13 or newer (with node:sqlite), found ${process.version}`);
  process.exitCode = 2;
} else if (asksVersion) console.log((await import("./version.ts")).ownVersion());
else await import("./process.ts");

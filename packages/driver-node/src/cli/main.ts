#!/usr/bin/env node
/** `pawl`, the command line. Checks Node's version before it loads modules that an old Node cannot load. */
import process from "node:process";

const isNewEnough = process.getBuiltinModule?.("node:sqlite") !== undefined;

if (isNewEnough) await import("./process.ts");
else {
  console.error(`pawl needs Node 22.13 or newer (with node:sqlite), found ${process.version}`);
  process.exitCode = 2;
}

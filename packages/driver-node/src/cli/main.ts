#!/usr/bin/env node
/** `pawl`, the command line. A Node that is too old is told so, before modules are loaded that it can not load. */
import process from "node:process";

const isNewEnough = process.getBuiltinModule?.("node:sqlite") !== undefined;

if (isNewEnough) await import("./process.ts");
else {
  console.error(`pawl: expected Node 22.13 or newer, which has node:sqlite, found ${process.version}`);
  process.exitCode = 2;
}

/** A server over stdio, which says its process. */
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { serveMcp } from "../src/index.ts";
import { serveOverStdio } from "../src/node/index.ts";

const pid = defineTool({ name: "pid", readOnly: true, execute: () => process.pid });
const { runtime } = openRuntime({ file: ":memory:", tools: [pid] });
serveOverStdio(serveMcp(runtime));
process.stderr.write("the server is up\n");
process.stdin.once("end", () => process.exit(0));

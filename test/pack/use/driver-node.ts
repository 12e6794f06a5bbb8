import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { Client } from "@pawl/driver-node/client";
import { defineTool } from "@pawl/runtime";

const folder = mkdtempSync(join(tmpdir(), "pawl-use-"));
let ran = 0;
const count = defineTool({ name: "count", execute: (_, ctx) => ctx.run("add", () => ++ran) });
const replies: string[] = [];
for (let life = 1; life <= 2; life++) {
  const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [count] });
  const session = await runtime.session("s");
  replies.push(JSON.stringify(await session.request("r1", [{ label: "c1", tool: "count", args: {} }])));
  await close();
}
rmSync(folder, { recursive: true });
console.log(typeof Client, `ran ${ran}`, replies[0] === replies[1] ? "same reply" : replies);

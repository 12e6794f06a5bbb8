/** `node examples/session.ts`: a session as its host sees it: a title, tools of its own, small values, and what its requests are at. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";

const visit = defineTool({
  name: "visit",
  durable: true,
  execute: async (_, ctx) => {
    const before = Number((await ctx.store.get("visits")) ?? 0);
    await ctx.store.set("visits", before + 1);
    return before + 1;
  },
});
const refund = defineTool({ name: "refund", needsApproval: true, execute: () => "refunded" });

const folder = mkdtempSync(join(tmpdir(), "pawl-session-"));
const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [visit] });
const session = await runtime.session("alice", { tools: [visit, refund] }); // Other sessions have no refunds.
await session.describe({ title: "Alice's order", tags: ["vip"] });

for (const id of ["turn-1", "turn-2"]) await session.call(visit, {}, { id });
console.log(`visits: ${String(await session.store.get("visits"))}`);

const asked = session.call(refund, {}, { id: "turn-3" });
while ((await session.approvals()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
const told = async (): Promise<void> => {
  for (const { request, state, waitsFor } of await session.requests())
    console.log(`${request} is ${state}${waitsFor === undefined ? "" : ` for a ${waitsFor}`}`);
};
await told();
for (const approval of await session.approvals()) await approval.approve({ by: "bob" });
await asked;
await told();

const [listed] = await runtime.sessions();
console.log(`${listed?.title} (${listed?.tags.join()}) is ${listed?.status?.state}`);
await close();
rmSync(folder, { recursive: true });

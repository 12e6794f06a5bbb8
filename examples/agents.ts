/**
 * `node examples/agents.ts`: an agent that asks two others at once. Each of them has a history of its own and part of the budget,
 * and waits for you where it needs approval: all of that is decided at the session that everybody talks to.
 */
import { agentHost, agentTool, defineAgent, scriptedModel } from "@pawl/agent";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";

const askPrice = defineTool({
  name: "ask_price",
  description: "Asks a hotel for its price. A person has to agree, since the hotel is called.",
  durable: true,
  needsApproval: true,
  inputSchema: { type: "object", properties: { hotel: { type: "string" } }, required: ["hotel"] },
  execute: ({ hotel }, ctx) => ctx.run("call", () => `${hotel}: ${40 + hotel.length} a night`),
});

/** A model that does what its last task says, in one call of its tool. */
const clerkModel = scriptedModel(
  ({ prompt }, n) => {
    const last = prompt.at(-1);
    if (n > 1) return { text: JSON.stringify(last?.content).replace(/.*"text":"(?<text>[^"]*)".*/, "$<text>") };
    const hotel = JSON.stringify(last?.content).includes("Astoria") ? "Astoria" : "Grand";
    return { text: "I ask them. ", calls: [{ tool: "ask_price", args: { hotel } }] };
  },
  { model: "clerk" },
);
const clerk = defineAgent({ name: "clerk", instructions: "Find the price.", model: clerkModel, tools: [askPrice] });

const main = defineAgent({
  instructions: "Plan trips. Let clerks ask for prices.",
  model: scriptedModel([
    {
      text: "Two clerks ask for prices. ",
      calls: ["Astoria", "Grand"].map((hotel) => ({ tool: "clerk", args: { task: `What does the ${hotel} cost?` } })),
    },
    "The Grand is cheaper: take it.",
  ]),
  tools: [agentTool({ agent: clerk, limits: { modelCalls: 5 } })],
  limits: { modelCalls: 20 },
});

const { runtime, close } = openRuntime({ file: ":memory:", ...agentHost([main]) });
const session = await runtime.session("alice");
const turn = main.turn(session, "Find me a hotel in Lviv.", { id: "turn-1" });
const over = new AbortController();
void turn.end.finally(() => over.abort());
while (!over.signal.aborted) {
  for (const asked of await session.approvals({ deep: true })) {
    if (asked.kind !== "call") continue;
    console.log(`${asked.subAgent}: ${asked.approval.tool} ${JSON.stringify(asked.approval.args)}: yes`);
    await asked.approval.approve({ by: "you" });
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const { used } = await turn.end;
console.log(`${await turn.text()} (${used.model_calls} model calls of three agents)`);
await close();

/** `examples/ai-sdk.ts`: a chat over a restart of its server. */
import { expect, it } from "vitest";
import { serveChat } from "../../examples/ai-sdk.ts";
import { ScriptedModel, newFile } from "../../packages/ai-sdk/test/world.ts";

it("answers a page, and shows the turn to a page that asks for it after a restart", { timeout: 60_000 }, async () => {
  const call = { id: "call_1", name: "refund", input: { order: "A1", cents: 5000 } };
  const model = new ScriptedModel(() => ({ words: ["Let me see."], calls: [call] }));
  const file = newFile();
  const first = serveChat(file, model);
  const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Refund A1" }] }];
  const body = JSON.stringify({ id: "c1", messages, trigger: "submit-message" });
  const said = await (await first.POST(new Request("http://chat.test/api/chat", { method: "POST", body }))).text();
  expect(said).toContain('"toolCallId":"call_1"');
  await first.close();

  const second = serveChat(file, model);
  const again = await (await second.GET(new Request("http://chat.test/api/chat/c1/stream"))).text();
  expect(again).toBe(said);
  expect(model.asked).toBe(1);
  await second.close();
});

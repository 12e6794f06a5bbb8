/** Events of processes, as their programs append and await them. */
import { describe, expect, it } from "vitest";
import { eventType, program, reply, told, toolCall } from "./world.ts";

describe("events of a process", () => {
  it("are refused outside of one, in the order of what is wrong", async () => {
    const found = await reply(async (ctx) => [
      await told(ctx.emitProcessEvent("", 1)),
      await told(ctx.processEvents.emit("note", 1)),
      await told(ctx.processEvents.waitEventAfter("note", 0)),
      await told(ctx.processEvents.awaitSignal("go")),
    ]);
    const [code, outside] = ["process_events_unavailable", "is unavailable outside a durable process"];
    expect(found).toEqual([
      [
        "durable_effect_process_event_unavailable",
        "durable effect process events are unavailable outside a durable process",
      ],
      [code, `process event emission ${outside}`],
      [code, `process event waiting ${outside}`],
      [code, `process event waiting ${outside}`],
    ]);
  });

  it("are appended once under a key that their program names", async () => {
    const work = program("work", async ({ processEvents }) => {
      const request = { event_type: "note", payload: "a", replay: { key: "mine" } };
      const [first, again] = [await processEvents.emitRequest(request), await processEvents.emitRequest(request)];
      return [first.sequence, again.sequence, first.invocation.replay?.key];
    });
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("note")] });
        return processes.await("p");
      },
      [work],
    );
    expect(found).toMatchObject({ value: [1, 1, "mine"] });
  });

  it("are numbered though one of them fails, and say why it failed", async () => {
    const work = program("work", async (ctx) => [
      await told(ctx.emitProcessEvent(" ", 1)),
      await told(ctx.emitProcessEvent("nope", 1)),
      await told(ctx.emitProcessEvent("note", 1)),
      (await ctx.emitProcessEvent("note", "fits")).invocation.replay,
      (await ctx.processEvents.emit("note", "more")).sequence,
      (await ctx.processEvents.waitEventAfter("note", 1)).payload,
    ]);
    const found = await reply(
      async ({ processes }) => {
        const note = eventType("note", {}, { type: "string" });
        await processes.start({ id: "p", input: toolCall("work"), eventTypes: [note] });
        return processes.await("p");
      },
      [work],
    );
    const code = "durable_effect_process_event_append_failed";
    expect(found).toMatchObject({
      value: [
        ["durable_effect_empty_process_event_type", "durable effect process event type must be non-empty"],
        [code, "plugin session error: process `p` emitted undeclared event type `nope`"],
        [code, expect.stringMatching(/^plugin session error: invalid `note` payload: /)],
        { key: "tool:c:durable-process-event:2" },
        2,
        "more",
      ],
    });
  });
});

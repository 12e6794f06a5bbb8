/** Processes under a runtime that dies before or after any of its appends. */
import { describe, expect, it } from "vitest";
import { deaths, eventType, live, program, toolCall } from "./world.ts";

const success = (payload: unknown) => ({ status: "success", payload });

describe("a body that starts a tool's process and awaits it", () => {
  it("gets its end, and the process runs once per record, wherever its runtime dies", async () => {
    for (const death of [undefined, ...deaths(14)]) {
      const work: string[] = [];
      const tools = [
        program("body", async ({ processes }) => {
          const handle = await processes.start({ id: "p", input: toolCall("work") });
          const end = await processes.await("p");
          return [handle.id, handle.status, end.type === "success" ? end.value : end];
        }),
        program("work", async (ctx) => ctx.run("once", () => (work.push("done"), "worked"))),
      ];
      const { output } = await live(tools, death);
      const at = `died ${death?.when} append ${death?.append}`;
      expect(output, at).toMatchObject({ status: "success", payload: ["p", expect.any(String), "worked"] });
      expect(work.length, at).toBeLessThanOrEqual(2);
      if (death === undefined) expect(work).toEqual(["done"]);
    }
  });

  it("signals it before it waits and while it waits, in their order", async () => {
    for (const death of [undefined, ...deaths(16)]) {
      const tools = [
        program("body", async ({ processes }) => {
          await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
          await processes.signal("p", "go", "first", "s1");
          await processes.signal("p", "go", "first", "s1");
          const end = processes.await("p");
          await processes.signal("p", "go", "second", "s2");
          return end;
        }),
        program("work", async ({ processEvents }) => [
          await processEvents.awaitSignal("go"),
          await processEvents.awaitSignal("go"),
        ]),
      ];
      const { output } = await live(tools, death);
      expect(output, `died ${death?.when} append ${death?.append}`).toEqual(
        success({ type: "success", value: ["first", "second"] }),
      );
    }
  });

  it("emits events that stand in the process's log once", async () => {
    for (const death of [undefined, ...deaths(12)]) {
      const tools = [
        program("body", async ({ processes }) => {
          await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("note")] });
          return processes.await("p");
        }),
        program("work", async (ctx) => {
          const first = await ctx.emitProcessEvent("note", { n: 0 });
          const second = await ctx.emitProcessEvent("note", { n: 1 });
          const found = await ctx.processEvents.waitEventAfter("note", first.sequence);
          return [first.sequence, second.sequence, found.sequence, first.invocation.replay?.key];
        }),
      ];
      const { output } = await live(tools, death);
      const events = [1, 2, 2, "tool:c:durable-process-event:0"];
      expect(output, `died ${death?.when} append ${death?.append}`).toEqual(
        success({ type: "success", value: events }),
      );
    }
  });
});

describe("an engine", () => {
  it("is run again until its process has ended, and what it appends under a key stands once", async () => {
    for (const death of [undefined, ...deaths(12)]) {
      let runs = 0;
      const seen: number[] = [];
      const engines = {
        flow: {
          run: async (_: unknown, { append }: { append: Function }) => {
            runs += 1;
            const event = await append({ event_type: "note", payload: 1, replay: { key: "k" } });
            seen.push(event.sequence);
            return { type: "success", value: "flown" } as const;
          },
        },
      };
      const body = program("body", async ({ processes }) => {
        const input = { type: "engine", kind: "flow", payload: null } as const;
        await processes.start({ id: "p", input, eventTypes: [eventType("note")] });
        return processes.await("p");
      });
      const { output } = await live([body], death, { engines });
      expect(output, `died ${death?.when} append ${death?.append}`).toEqual(
        success({ type: "success", value: "flown" }),
      );
      expect(new Set(seen)).toEqual(new Set([1]));
      expect(runs).toBeLessThanOrEqual(3);
    }
  });
});

describe("a wake", () => {
  it("reaches a host that knows its id, however late that says so, once", async () => {
    for (const death of [undefined, ...deaths(12)]) {
      const had = new Map<string, string>();
      let deliveries = 0;
      const wake = { wake: { input: "payload", dedupe_key: "event_identity" } } as const;
      const tools = [
        program("body", async ({ processes, sleep }) => {
          await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("note", wake)] });
          await processes.await("p");
          await sleep(200_000);
          return "awake";
        }),
        program("work", async (ctx) => (await ctx.emitProcessEvent("note", "look")).sequence),
      ];
      const host = {
        wake: async ({ wake_id, text }: { readonly wake_id: string; readonly text: string }) => {
          deliveries += 1;
          had.set(wake_id, text);
          if (deliveries === 1) throw new Error("not now");
        },
      };
      const { world } = await live(tools, death, host);
      await world.quiet();
      expect([...had.values()], `died ${death?.when} append ${death?.append}`).toEqual([
        "Background process wake\nProcess: p\nEvent: note #1\nWake input:\nlook",
      ]);
    }
  });
});

/** Verbs of `ctx` that give promises: what does not fit is told by the promise, and never thrown at once. */
import { describe, expect, it } from "vitest";
import { type ToolContext, defineTool } from "../../src/index.ts";
import { live, program, toolCall } from "../process/world.ts";
import { World } from "../world.ts";

const noJson = (): undefined => undefined;
const misfit = noJson as never;

type Verb = (ctx: ToolContext) => Promise<unknown>;

const ok = (): string => "ok";

/** What each is refused as. */
const refused: { readonly [what: string]: readonly [Verb, string] } = {
  "a step's input": [(ctx) => ctx.run("a", ok, { input: noJson }), "durable_effect_value"],
  "a step's blank id": [(ctx) => ctx.run(" ", ok), "durable_effect_empty_step_id"],
  "a step's id that was used": [(ctx) => (void ctx.run("b", ok), ctx.run("b", ok)), "durable_effect_duplicate_step_id"],
  "a step's id that is no text": [(ctx) => ctx.run(7 as never, ok), "TypeError"],
  "a call's arguments": [(ctx) => ctx.callAll([{ label: "1", tool: "t", args: noJson }]), "durable_effect_value"],
  "two calls of one id": [
    (ctx) => ctx.callAll([1, 2].map(() => ({ label: "1", tool: "t", args: {} }))),
    "call_id_conflict",
  ],
  "calls that are none": [(ctx) => ctx.callAll(misfit), "TypeError"],
  "a host request's input": [(ctx) => ctx.host("h", noJson), "durable_effect_value"],
  "a session's request": [(ctx) => ctx.sessions.createSession(noJson), "durable_effect_value"],
  "a completion's request": [(ctx) => ctx.directCompletions.complete({}, "u"), "direct_request"],
  "a trigger": [(ctx) => ctx.triggers.emit({} as never), "trigger_invalid"],
  "a blank event key": [(ctx) => ctx.waitFor(" "), "durable_effect_empty_event_key"],
  "a time that is no number": [(ctx) => ctx.sleep(1n as never), "durable_effect_value"],
  "a choice among nothing": [(ctx) => ctx.race([]), "effect_unknown"],
  "a process event outside": [(ctx) => ctx.emitProcessEvent("t", {}), "durable_effect_process_event_unavailable"],
  "a process that is none": [(ctx) => ctx.processes.start({ id: "", input: toolCall("t") }), "process_refused"],
  "no process at all": [(ctx) => ctx.processes.start(undefined as never), "TypeError"],
  "handles that are none": [(ctx) => ctx.processes.transferHandles("t", [misfit]), "TypeError"],
  "a signal's payload": [(ctx) => ctx.handleTools.signalProcess("1", {}, "s", noJson), "durable_effect_value"],
  "a call apart": [(ctx) => ctx.handleTools.startToolCall("1", "t", noJson), "durable_effect_value"],
  "a task": [(ctx) => ctx.tasks.create({ title: misfit } as never), "durable_effect_value"],
  "no run at all": [(ctx) => ctx.background.spawn(undefined as never), "TypeError"],
  "no schedule at all": [(ctx) => ctx.schedules.create(undefined as never), "TypeError"],
  "what is said of bytes": [(ctx) => ctx.attachments.put(new Uint8Array(1), {} as never), "attachment_meta"],
  "arguments to continue with": [(ctx) => ctx.continueAs(noJson), "durable_effect_value"],
};

const codeOf = (thrown: unknown): string => (thrown as { code?: string; name: string }).code ?? (thrown as Error).name;

/** How a verb says that something does not fit. */
const saidBy = async (ctx: ToolContext, verb: Verb): Promise<string> => {
  let promise: Promise<unknown>;
  try {
    promise = verb(ctx);
  } catch (thrown) {
    return `thrown at once: ${codeOf(thrown)}`;
  }
  return promise.then(() => "done", codeOf);
};

const inBody = async (body: Verb): Promise<unknown> => {
  const tool = defineTool({ name: "t", durable: true, execute: (_, ctx) => body(ctx) });
  const session = await new World().start([tool]).runtime.session("s");
  const [reply] = await session.request("r", [{ label: "c", tool: "t", args: {} }]);
  return reply?.output.outcome.payload;
};

describe("what does not fit is refused by the promise", () => {
  it.each(Object.entries(refused))("%s", async (_, [verb, code]) => {
    expect(await inBody((ctx) => saidBy(ctx, verb))).toBe(code);
  });

  it("a process event's payload", async () => {
    const said: string[] = [];
    const emits = program("emits", async (ctx) => {
      said.push(await saidBy(ctx, () => ctx.emitProcessEvent("t", noJson)));
      said.push(await saidBy(ctx, () => ctx.processEvents.emit("t", noJson)));
    });
    const body = program("body", async ({ processes }) => {
      await processes.start({ id: "p", input: toolCall("emits"), eventTypes: [] });
      return processes.await("p");
    });
    await live([body, emits]);
    expect(said).toEqual(["durable_effect_value", "durable_effect_value"]);
  });
});

it("a body need not await what was refused, nor what it asks when it is over", async () => {
  const unhandled: unknown[] = [];
  const note = (thrown: unknown): void => void unhandled.push(thrown);
  process.on("unhandledRejection", note);
  const kept: ToolContext[] = [];
  await inBody(async (ctx) => {
    for (const [verb] of Object.values(refused)) void verb(ctx);
    kept.push(ctx);
  });
  expect(kept).toHaveLength(1);
  for (const ctx of kept) for (const [verb] of Object.values(refused)) void verb(ctx);
  await new World().quiet();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

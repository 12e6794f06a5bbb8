/** Runs in the browser: a page that has not loaded yet what it needs for cancels, decisions and hooks. */
import { type Plugin, type Runtime, type Session, defineTool } from "@pawl/runtime";
import { openTab } from "../../src/index.ts";

const tools = [
  defineTool({ name: "echo", durable: true, execute: (args) => args }),
  defineTool({ name: "pay", policy: "requires_approval", durable: true, execute: (args) => args }),
  defineTool({
    name: "waits",
    durable: true,
    execute: (_, ctx) =>
      new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("it heard"), { once: true })),
  }),
];

let runtime: Runtime;
let session: Session;

const guard: Plugin = {
  id: "guard",
  beforeToolCall: () => [{ kind: "replace_tool_args", args: { by: "the hook" } }],
};

const open = async (name: string, hasHooks: boolean): Promise<void> => {
  const plugins = hasHooks ? [guard] : [];
  runtime = await (await openTab({ name, tools, host: { plugins } })).runtime();
  session = await runtime.session("s");
};

const outcomeOf = async (request: string, tool: string): Promise<unknown> =>
  (await session.call(request, [{ id: "c", tool, args: { by: "ann" } }]))[0]?.output.outcome;

/** What something comes to, or its code; and how many milliseconds that took. */
const timed = async <A>(work: Promise<A>): Promise<{ readonly came: unknown; readonly ms: number }> => {
  const start = performance.now();
  const came = await work.catch((thrown: unknown) => String(thrown));
  return { came: came ?? "done", ms: performance.now() - start };
};

/** The call is on record, and as far as it comes by itself. */
const reached = async (phase: "running" | "awaiting_approval"): Promise<void> => {
  while (!session.state.calls.rows().some((row) => row.phase === phase))
    await new Promise((resolve) => setTimeout(resolve, 5));
};

/** What is said of a call that is under way, what came of it, and of a call beside it meanwhile. */
const during = async (tool: string, phase: "running" | "awaiting_approval", say: () => Promise<void>) => {
  const under = outcomeOf(tool, tool);
  await reached(phase);
  const [said, beside] = await Promise.all([timed(say()), timed(outcomeOf("beside", "echo"))]);
  return { said, beside, under: await under };
};

const cancel = (): Promise<void> => session.cancel({ request: "waits" }, "ann");
const approve = (): Promise<void> => {
  const row = session.state.calls.rows().find(({ phase }) => phase === "awaiting_approval");
  const hash = row?.phase === "awaiting_approval" ? row.approval.argsHash : "";
  return session.approve("pay:c", { hash, by: "ann" });
};

Object.assign(globalThis, {
  suite: {
    open,
    hooked: () => timed(outcomeOf("hooked", "echo")),
    cancelled: () => during("waits", "running", cancel),
    approved: () => during("pay", "awaiting_approval", approve),
    /** Said again and again, as by somebody who was told that it failed. */
    cancelledAgain: () => during("waits", "running", () => cancel().catch(() => cancel().catch(() => cancel()))),
    /** The call that could not be asked about, and the same again once its session was lost. */
    hookedAgain: async () => {
      const first = await timed(outcomeOf("hooked", "echo"));
      session = await runtime.session("s");
      return { first, second: await timed(outcomeOf("hooked", "echo")) };
    },
  },
});

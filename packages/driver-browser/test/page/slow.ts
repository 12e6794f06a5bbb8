/** Runs in the browser: a page that has not loaded yet what it needs for cancels, decisions, hooks and sleeps. */
import { type Plugin, type Runtime, type Session, defineTool } from "@pawl/runtime";
import { openTab } from "../../src/index.ts";

const tools = [
  defineTool({ name: "echo", durable: true, execute: (args) => args }),
  defineTool({ name: "pay", policy: "requires_approval", durable: true, execute: (args) => args }),
  defineTool({
    name: "sleeps",
    durable: true,
    execute: async (args, ctx) => {
      await ctx.sleep(1);
      return args;
    },
  }),
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

type Phase = "running" | "awaiting_approval";

/** The call is on record, and as far as it comes by itself. */
const reached = async (phase: Phase): Promise<void> => {
  while (!session.state.calls.rows().some((row) => row.phase === phase))
    await new Promise((resolve) => setTimeout(resolve, 5));
};

/** What is said of a call that is under way, what came of it, and of a call beside it meanwhile. */
const during = async (tool: string, say: () => Promise<void>) => {
  const under = outcomeOf(tool, tool);
  await reached("running");
  const [said, beside] = await Promise.all([timed(say()), timed(outcomeOf("beside", "echo"))]);
  return { said, beside, under: await under };
};

const cancel = (): Promise<void> => session.cancel({ request: "waits" }, "ann");
const approve = async (): Promise<void> => {
  await reached("awaiting_approval");
  const row = session.state.calls.rows().find(({ phase }) => phase === "awaiting_approval");
  const hash = row?.phase === "awaiting_approval" ? row.approval.argsHash : "";
  return session.approve("pay:c", { hash, by: "ann" });
};

Object.assign(globalThis, {
  suite: {
    open,
    hooked: () => timed(outcomeOf("hooked", "echo")),
    cancelled: () => during("waits", cancel),
    /** A call that is parked for a decision, and one beside it. */
    approved: async () => {
      const paid = timed(outcomeOf("pay", "pay"));
      const beside = await timed(outcomeOf("beside", "echo"));
      await approve();
      return { said: await paid, beside };
    },
    /** Said again and again, as by somebody who was told that it failed. */
    cancelledAgain: () => during("waits", () => cancel().catch(() => cancel().catch(() => cancel()))),
    /** The call that could not be taken on, or could not go on, and the same again in the session as it is by then. */
    again: async (tool: string) => {
      const first = await timed(outcomeOf("again", tool));
      const isLost = (await runtime.session("s")) !== session;
      session = await runtime.session("s");
      return { first, isLost, second: await timed(outcomeOf("again", tool)) };
    },
  },
});

/** What protocol 2 waits for without a body in memory: calls below, people, room in a link; and tools that are away. */
import type { Json } from "@pawl/tool-value";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { acked, ask, resumed, settle, submit, suspended } from "./event.ts";
import { Tape, tool } from "./tape.ts";

const reopened = (tape: Tape, epoch: number): Event => {
  const { options, protocol } = tape.state.scope;
  return { type: "scope.opened", epoch, owner: `d${epoch}`, protocol, options };
};

/** A loop whose sub-call waits for a person: nobody runs anything, a new owner starts nothing, and it ends from the bottom up. */
export const suspendedChain = (): Tape => {
  const tape = Tape.open([tool("durable"), tool("guarded", { policy: "requires_approval" })]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  const calls = [{ id: "x", tool: "tool:guarded", args: { cents: 5 } }];
  tape.tell(ask("r:c1", "b", { kind: "batch", calls }), "tool.prepare r:c1/b/x");
  tape.refuses(suspended("r:c1"), "wrong_phase");
  const args_hash = "a5".padEnd(64, "0");
  const prepared = { type: "prepared", tool_id: "tool:guarded", args: { cents: 5 }, args_hash, payload: null } as const;
  tape.tell({ type: "call.prepared", call: "r:c1/b/x", preparation: prepared }, "call_started x", "call_parked x");
  tape.after(2000).tell(suspended("r:c1")).after(60_000).tell(reopened(tape, 2));
  const approved = { type: "approval.decided", call: "r:c1/b/x", decision: { type: "approve" }, args_hash, by: "ada" };
  tape.tell(approved as Event, ...tape.decided("x"), "execute r:c1/b/x 1.1");
  tape.tell(settle("r:c1/b/x"), "call_completed x", "replies.record b");
  const output = { outcome: { status: "success", payload: { ok: true } } } as const;
  const replies = [{ call_id: "x", tool: "guarded", args: { cents: 5 }, output, duration_ms: 7 }];
  const recorded: Event = { type: "replies.recorded", call: "r:c1", key: "b", replies, triggers: [] };
  tape.tell(recorded, "execute r:c1 1.2 suspended").tell(resumed("r:c1 1.2", "suspended", "d2"));
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

/** A request that the host puts to a person: the body leaves, and a new owner asks again. */
export const personAsked = (): Tape => {
  const tape = Tape.open([tool("durable")]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  const input: Json = { question: "may I?" };
  tape.tell(ask("r:c1", "h", { kind: "host", name: "ask", input }), "host.request h");
  tape.refuses(suspended("r:c1"), "wrong_phase");
  const waiting: Event = { type: "host.waiting", call: "r:c1", key: "h", seq: tape.seq, name: "ask", input };
  tape.tell(waiting).refuses(waiting, "wrong_phase");
  tape.after(2000).tell(suspended("r:c1")).tell(reopened(tape, 2));
  tape.answered("r:c1", "h", "yes", "execute r:c1 1.2 suspended");
  tape.tell(resumed("r:c1 1.2", "suspended", "d2"));
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

/** Two bodies wait for room in a link that takes one message: each answer lets the next one send. */
export const roomInLink = (): Tape => {
  const to = "process:p";
  const tape = Tape.open([tool("durable")], { max_unanswered: 1 });
  const ids = ["c1", "c2", "c3"];
  const calls = Object.fromEntries(ids.map((id) => [id, "durable"]));
  tape.tell(submit("r", calls), ...ids.flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]));
  const send = (run: string): Event =>
    ask(run, "m", { kind: "message", to, message: { type: "process.await", wait: `end ${run}` } });
  const waits = (run: string): Event => ({ ...suspended(run), link: to }) as Event;
  const link = tape.seq + 1;
  const answered = (number: number): Event => ({
    type: "message.answered",
    to,
    link,
    number,
    outcome: { status: "accepted", value: null },
  });
  tape.tell(send("r:c1"), "send").refuses(send("r:c3"), "link_full").refuses(send("r:c2"), "link_full");
  tape.after(2000).tell(suspended("r:c1")).tell(waits("r:c3")).tell(waits("r:c2"));
  tape.tell(answered(1), "execute r:c1 1.2 suspended", "execute r:c3 1.2 suspended");
  tape.tell(resumed("r:c3 1.2", "suspended", "d1")).tell(resumed("r:c1 1.2", "suspended", "d1"));
  tape.refuses(send("r:c1 1.2"), "effect_exists").tell(send("r:c3 1.2"), "send");
  tape.tell(settle("r:c1 1.2"), "call_completed c1");
  tape.tell(answered(2), "answer m of 13", "execute r:c2 1.2 suspended");
  tape.tell(settle("r:c3 1.2"), "call_completed c3").tell(resumed("r:c2 1.2", "suspended", "d1"));
  return tape.tell(settle("r:c2 1.2"), "call_completed c2", "reply r").tell(acked("r"));
};

/** A tool that is away while a call is prepared, and one that has left the catalog when its call is to be launched. */
export const absentTool = (): Tape => {
  const tools = [tool("careful", { checks: true, prepares: true }), tool("durable")];
  const tape = Tape.open(tools);
  tape.tell(submit("r", { c1: "careful", c2: "durable" }), "args.check r:c1");
  const missing: Event = { type: "call.tool_missing", call: "r:c1" };
  const back: Event = { type: "executors.available", tools: ["tool:careful"] };
  tape.tell(missing, "call_started c2", "execute r:c2 1.1").refuses(missing, "wrong_phase");
  tape.after(60_000).tell(back, "args.check r:c1");
  tape.tell({ type: "args.checked", call: "r:c1", verdict: { verdict: "valid" } }, "tool.prepare r:c1");
  tape.tell({ type: "catalog.published", tools: tools.slice(1) });
  const prepared = { type: "prepared", tool_id: "tool:careful", args: { n: 0 }, args_hash: "h", payload: 1 } as const;
  tape.tell({ type: "call.prepared", call: "r:c1", preparation: prepared });
  tape.tell(settle("r:c2"), "call_completed c2").tell({ type: "catalog.published", tools });
  tape.tell(back, "call_started c1", "execute r:c1 1.1");
  return tape.tell(settle("r:c1"), "call_completed c1", "reply r").tell(acked("r"));
};

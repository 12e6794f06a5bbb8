/** What bodies do and live through: steps, waits, child batches, runs after a loss, suspension, `continueAs`. */
import { successOutput } from "@pawl/tool-value";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { Reply } from "../../src/request/model.ts";
import { acked, ask, cancelRequest, cleanedUp, continued, ok, pend, resolved, resumed, settle, step, stepFailed, stepped, submit, suspended } from "./event.ts";
import { Tape, tool } from "./tape.ts";

const start = (tape: Tape, name: string): Tape =>
  tape.tell(submit("r", { c1: name }), "call_started c1", "execute r:c1 1.1");
const finish = (tape: Tape, run: string): Tape =>
  tape.tell(settle(run), "call_completed c1", "reply r").tell(acked("r"));
const reopened = (tape: Tape, epoch: number): Event => {
  const { protocol, options } = tape.state.scope;
  return { type: "scope.opened", epoch, owner: `d${epoch}`, protocol, options };
};

/** The recorded steps answer the next run; the open one runs again; the report of the old run is refused. */
export const ownerLost = (): Tape => {
  const tape = start(Tape.open([tool("durable")]), "durable");
  tape.tell(ask("r:c1", "a", step()), "step.run a").tell(stepped("r:c1", "a"), "answer a of 5");
  tape.tell(ask("r:c1", "b", step("idempotent")), "step.run b").tell(ask("r:c1", "c", step("once")), "step.run c");
  tape.after(30_000).tell(reopened(tape, 2), "execute r:c1 1.2 owner_lost");
  tape.refuses(stepped("r:c1", "b"), "wrong_phase");
  tape.tell(resumed("r:c1 1.2", "owner_lost", "d2"));
  tape.refuses(stepped("r:c1", "b"), "stale_run");
  tape.tell(stepped("r:c1 1.2", "b"), "answer b of 10");
  tape.tell(stepFailed("r:c1 1.2", "c"), "answer c of 11");
  tape.after(1000).tell({ type: "owner.lost", owner: "d2" }, "execute r:c1 1.3 owner_lost");
  tape.tell(resumed("r:c1 1.3", "owner_lost", "d3"));
  return finish(tape, "r:c1 1.3");
};

const again = (run: number): string => `execute r:c1 1.${run} owner_lost`;

/** As of protocol 2: counted, paused and said; at its limit parked, and resolved by a person. A released owner counts for nothing. */
const crashLoopOf2 = (): Tape => {
  const tape = start(Tape.open([tool("durable")], { max_crashes: 7 }), "durable");
  tape.tell(ask("r:c1", "durable-step:hotel", step()), "step.run durable-step:hotel");
  const comesBack = (run: number): Tape => tape.tell(resumed(`r:c1 1.${run}`, "owner_lost", `d${run}`));
  tape.tell({ type: "owner.lost", owner: "d1" }, again(2));
  comesBack(2).tell({ type: "owner.lost", owner: "d2", went: "released" }, again(3));
  comesBack(3);
  for (const [i, pause] of [0, 0, 1000, 2000, 5000, 10_000].entries()) {
    const wanted = again(i + 4);
    tape.tell({ type: "owner.lost", owner: `d${i + 3}` }, "call_crashed c1", ...(pause === 0 ? [wanted] : []));
    if (pause > 0) tape.tick(pause - 1).tick(1, wanted);
    comesBack(i + 4);
  }
  tape.tell({ type: "owner.lost", owner: "d9" }, "call_crashed c1", "call_unknown c1");
  const resolvedBy = { type: "outcome.resolved", call: "r:c1", resolved: { type: "give_up" }, by: "user:ada" } as const;
  return tape.tell(resolvedBy, "call_completed c1", "reply r").tell(acked("r"));
};

/** Lost again and again without a new record, with longer and longer pauses, until it is given up. */
export const crashLoop = (): Tape => {
  const tape = start(Tape.open([tool("durable")]), "durable");
  if (tape.protocol > 1) return crashLoopOf2();
  const pauses = [0, 1000, 4000, 16_000, 64_000];
  for (const [i, pause] of pauses.entries()) {
    const run = i + 2;
    const wanted = `execute r:c1 1.${run} owner_lost`;
    tape.tell({ type: "owner.lost", owner: `d${i + 1}` }, ...(pause === 0 ? [wanted] : []));
    if (pause > 0) tape.tick(pause - 1).tick(1, wanted);
    tape.tell(resumed(`r:c1 1.${run}`, "owner_lost", `d${run}`));
  }
  return tape.tell({ type: "owner.lost", owner: "d6" }, "call_completed c1", "reply r").tell(acked("r"));
};

/** What is done after a cancel: by a body that left the memory, over a lost owner, and of a call that waits for its child. */
export const cleanUp = (): Tape => {
  const onCancel = { kind: "cleanup", deadline_ms: 10_000 } as const;
  const tape = Tape.open([tool("durable")]);
  const started = ["c1", "c2"].flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]);
  tape.tell(submit("r", { c1: "durable", c2: "durable" }), ...started);
  tape.tell(ask("r:c1", "on-cancel", onCancel)).tell(ask("r:c1", "w", waitFor("paid"))).tell(suspended("r:c1"));
  const child = { kind: "batch", calls: [{ id: "x", tool: "tool:durable", args: null }] } as const;
  tape.tell(ask("r:c2", "b", child), "call_started x", "execute r:c2/b/x 1.1");
  tape.tell(ask("r:c2/b/x", "on-cancel", onCancel));
  tape.tell(
    cancelRequest("r"),
    "execute r:c1 1.2 cancelled",
    "tool.cancel r:c2",
    "tool.cancel r:c2/b/x",
    "answer on-cancel of 9",
  );
  tape.tell(resumed("r:c1 1.2", "cancelled", "d1")).tell(ask("r:c1 1.2", "refund", step()), "step.run refund");
  tape.after(60_000).tell(reopened(tape, 2), "execute r:c1 1.3 owner_lost", "execute r:c2 1.2 owner_lost", "execute r:c2/b/x 1.2 owner_lost");
  for (const run of ["r:c1 1.3", "r:c2 1.2", "r:c2/b/x 1.2"]) tape.tell(resumed(run, "owner_lost", "d2"));
  tape.tell(stepped("r:c1 1.3", "refund"), "answer refund of 16");
  tape.tell(ask("r:c1 1.3", "on-cancel#2", onCancel), "answer on-cancel#2 of 17");
  tape.tell(cleanedUp("r:c1 1.3")).refuses(cleanedUp("r:c1 1.3"), "wrong_phase");
  tape.tell(cleanedUp("r:c2/b/x 1.2"));
  tape.tick(50, "call_completed c1", "call_completed x", "replies.record b");
  const output = { outcome: { status: "cancelled", payload: { message: "tool call cancelled", source: "cancellation" } } } as const;
  const replies = [{ call_id: "x", tool: "durable", args: null, output, duration_ms: 0 }];
  tape.tell({ type: "replies.recorded", call: "r:c2", key: "b", replies, triggers: [] }, "answer b of 21");
  return tape.tick(50, "call_completed c2", "reply r").tell(acked("r"));
};

/** Tools that can not be run again: the resolver is asked, and each of its answers is taken once. */
export const unknownOutcome = (): Tape => {
  const bound = tool("mail", { durable: false });
  const outside = tool("order", { durable: false, recovery: "externally_owned" });
  const tape = Tape.open([bound, outside], { resolver: true });
  const ids = ["c1", "c2", "c3", "c4"];
  const calls = { c1: "mail", c2: "mail", c3: "mail", c4: "order" };
  tape.tell(submit("r", calls), ...ids.flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]));
  tape.tell({ type: "call.dispatched", call: "r:c3", attempt: 1, run: 1, owner: "executor:e1" });
  tape.tell({ type: "call.dispatched", call: "r:c4", attempt: 1, run: 1, owner: "d1", key: "key-4" });
  tape.after(5000).tell(reopened(tape, 2), "outcome.resolve r:c1", "outcome.resolve r:c2");
  tape.tell(
    { type: "outcome.resolved", call: "r:c1", resolved: { type: "give_up" }, by: "user:ada" },
    "call_completed c1",
  );
  const runAgain = { type: "outcome.resolved", call: "r:c2", resolved: { type: "run_again" } } as const;
  tape.tell(runAgain, ...tape.crashed("c2"), "execute r:c2 1.2 run_again");
  tape.tell(resumed("r:c2 1.2", "run_again", "d2"));
  tape.tell({ type: "owner.lost", owner: "executor:e1" }, "outcome.resolve r:c3");
  const output = { outcome: { status: "success", payload: "sent" } } as const;
  tape.tell({ type: "outcome.resolved", call: "r:c3", resolved: { type: "verified", output } }, "call_completed c3");
  tape.tell(resolved("key-4", ok({ order: 4 })), "call_completed c4");
  return tape.tell(settle("r:c2 1.2"), "call_completed c2", "reply r").tell(acked("r"));
};

const waitFor = (key: string, deadline_ms?: number) =>
  deadline_ms === undefined
    ? ({ kind: "wait", wait: key } as const)
    : ({ kind: "wait", wait: key, deadline_ms } as const);

/** Resolved before anybody waits, while somebody does, too late, never; left by its waiter, and revoked. */
export const waits = (): Tape => {
  const tape = start(Tape.open([tool("durable")], { max_unclaimed: 1 }), "durable");
  tape.tell(resolved("early", ok(1))).refuses(resolved("other", ok(1)), "too_many_unclaimed");
  tape.tell(ask("r:c1", "w1", waitFor("early")), "answer w1 of 5");
  tape.tell(ask("r:c1", "w2", waitFor("late", 1000))).tell(ask("r:c1", "w3", waitFor("awaited")));
  tape.tell(ask("r:c1", "w4", waitFor("awaited", 500)));
  tape.after(400).tell(resolved("awaited", ok({ by: "host" })), "answer w3 of 9", "answer w4 of 9");
  tape.refuses(resolved("awaited", ok(2)), "already_resolved");
  tape.tick(600, "answer w2 of 10");
  tape.tell(resolved("late", ok("nobody waits any more")));
  tape
    .tell(ask("r:c1", "w5", waitFor("left")))
    .tell({ type: "wait.cancelled", call: "r:c1", key: "w5" }, "answer w5 of 13");
  tape.tell(ask("r:c1", "w6", waitFor("revoked"))).tell({ type: "wait.revoked", keys: ["revoked"] }, "answer w6 of 15");
  tape.tell(ask("r:c1", "w7", waitFor("late")), "answer w7 of 16");
  return finish(tape, "r:c1");
};

/** Sleeps and selects: the one that is first in the log wins, whatever else is settled in the same event. */
export const selects = (): Tape => {
  const tape = start(Tape.open([tool("durable")]), "durable");
  tape.tell(ask("r:c1", "nap", { kind: "sleep", ms: 100 })).tell(ask("r:c1", "a", step()), "step.run a");
  tape.tell(ask("r:c1", "race", { kind: "select", mode: "race", keys: ["a", "nap"] }));
  tape.tell(ask("r:c1", "any", { kind: "select", mode: "any", keys: ["a", "nap"] }));
  tape.tell(ask("r:c1", "all", { kind: "select", mode: "all", keys: ["nap", "a"] }));
  tape.tell(ask("r:c1", "settled", { kind: "select", mode: "all_settled", keys: ["nap", "a"] }));
  tape.tell(stepFailed("r:c1", "a"), "answer a of 10", "answer race of 10", "answer all of 10");
  tape.tick(100, "answer nap of 11", "answer any of 11", "answer settled of 11");
  tape.tell(ask("r:c1", "again", { kind: "select", mode: "race", keys: ["nap", "a"] }), "answer again of 12");
  return finish(tape, "r:c1");
};

const batch = (...ids: readonly string[]) =>
  ({ kind: "batch", calls: ids.map((id) => ({ id, tool: "tool:quick", args: id })) }) as const;
const reply = (id: string): Reply => ({
  call_id: id,
  tool: "quick",
  args: id,
  output: successOutput({ ok: true }),
  duration_ms: 7,
});

/** A body makes a batch: its calls go their way, their replies are recorded as its value; a cancel ends what is below. */
export const nestedBatch = (): Tape => {
  const tape = start(Tape.open([tool("durable"), tool("quick")]), "durable");
  tape.tell(
    ask("r:c1", "b", batch("x", "y")),
    "call_started x",
    "execute r:c1/b/x 1.1",
    "call_started y",
    "execute r:c1/b/y 1.1",
  );
  tape.tell(settle("r:c1/b/y"), "call_completed y").tell(settle("r:c1/b/x"), "call_completed x", "replies.record b");
  tape.tell(
    { type: "replies.recorded", call: "r:c1", key: "b", replies: [reply("x"), reply("y")], triggers: [] },
    "answer b of 7",
  );
  tape.tell(
    ask("r:c1", "b#2", batch("x", "y")),
    "call_started x",
    "execute r:c1/b#2/x 1.1",
    "call_started y",
    "execute r:c1/b#2/y 1.1",
  );
  tape.tell(ask("r:c1/b#2/x", "deep", batch("z")), "call_started z", "execute r:c1/b#2/x/deep/z 1.1");
  tape.tell(pend("r:c1/b#2/y", "key-y"));
  tape.tell(
    cancelRequest("r"),
    "tool.cancel r:c1",
    "tool.cancel r:c1/b#2/x",
    "external.cancel key-y",
    "call_completed y",
    "tool.cancel r:c1/b#2/x/deep/z",
  );
  tape.tick(50, "call_completed c1", "call_completed x", "call_completed z", "reply r");
  return tape.tell({ type: "external.cancel_acked", key: "key-y" }).tell(acked("r"));
};

/** A body that only waits is dropped, and starts again when something comes: another run, no attempt and no resume. */
export const suspension = (): Tape => {
  const tape = start(Tape.open([tool("durable")]), "durable");
  tape.tell(ask("r:c1", "a", step()), "step.run a").refuses(suspended("r:c1"), "wrong_phase");
  tape.tell(stepped("r:c1", "a"), "answer a of 5");
  tape.tell(ask("r:c1", "w", waitFor("key", 60_000))).tell(ask("r:c1", "nap", { kind: "sleep", ms: 10_000 }));
  tape.after(2000).tell(suspended("r:c1"));
  tape.tick(8000, "execute r:c1 1.2 suspended");
  tape.tell(resumed("r:c1 1.2", "suspended", "d1"));
  tape.after(2000).tell(suspended("r:c1 1.2"));
  tape.tell(reopened(tape, 2));
  tape.tell(resolved("key", ok("there")), "execute r:c1 1.3 suspended");
  tape.tell(resumed("r:c1 1.3", "suspended", "d2"));
  return finish(tape, "r:c1 1.3");
};

/** Nothing is remembered after `continueAs`: the same keys are recorded anew. */
export const continueAs = (): Tape => {
  const tape = start(Tape.open([tool("durable")]), "durable");
  for (const [page, run] of ["1.1", "1.2"].entries()) {
    tape.tell(ask(`r:c1 ${run}`, "page", step()), "step.run page");
    tape.tell(stepped(`r:c1 ${run}`, "page"), `answer page of ${tape.seq + 1}`);
    const next = `1.${page + 2}`;
    tape.tell(continued(`r:c1 ${run}`, { page: page + 2 }), `execute r:c1 ${next} continued`);
    tape.tell(resumed(`r:c1 ${next}`, "continued", "d1"));
  }
  return finish(tape, "r:c1 1.3");
};

const diverged = (call: string): Event => ({
  type: "call.diverged",
  call,
  attempt: 1,
  run: 1,
  position: 1,
  expected: "step a",
  found: "step b",
});

/** Plays what a program that no longer fits its log comes to, by its tool's policy; and a tool whose executor is gone. */
export const divergence = (): Tape => {
  const tools = [tool("parks"), tool("releases", { divergence: "release" }), tool("fails", { divergence: "fail" })];
  const tape = Tape.open(tools, { no_executor_ms: 1000 });
  const ids = ["c1", "c2", "c3", "c4", "c5"];
  const calls = { c1: "parks", c2: "releases", c3: "fails", c4: "parks", c5: "parks" };
  tape.tell(submit("r", calls), ...ids.flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]));
  tape.tell(diverged("r:c1"), "call_completed c1");
  tape.tell(ask("r:c2", "a", step()), "step.run a").tell(stepped("r:c2", "a"), "answer a of 6");
  tape.tell(diverged("r:c2"), "execute r:c2 1.2 run_again").tell(resumed("r:c2 1.2", "run_again", "d1"));
  tape.tell(diverged("r:c3"), "call_completed c3");
  tape.tell({ type: "call.executor_missing", call: "r:c4", attempt: 1, run: 1 });
  tape.tell({ type: "call.executor_missing", call: "r:c5", attempt: 1, run: 1 });
  tape.after(999).tell({ type: "executors.available", tools: ["tool:fails"] });
  tape.tick(1, "call_completed c4", "call_completed c5");
  return tape.tell(settle("r:c2 1.2"), "call_completed c2", "reply r").tell(acked("r"));
};

/** Host requests and triggers are answered by the host; a body that is gone while it answers is told when it is back. */
export const hostRequest = (): Tape => {
  const tape = start(Tape.open([tool("durable")]), "durable");
  tape.tell(ask("r:c1", "h", { kind: "host", name: "sessions.create", input: { of: 1 } }), "host.request h");
  tape.after(10).tell(reopened(tape, 2), "execute r:c1 1.2 owner_lost");
  tape.answered("r:c1", "h", "s2");
  tape.tell(resumed("r:c1 1.2", "owner_lost", "d2"));
  tape.tell(ask("r:c1 1.2", "t", { kind: "trigger", input: "paid" }), "host.request t");
  tape.answered("r:c1", "t", { at: 1 }, "answer t of 9");
  return finish(tape, "r:c1 1.2");
};

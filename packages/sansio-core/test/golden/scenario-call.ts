/** Calls from their request to their reply: preparation, retries, batches, approvals, cancels. */
import { errorOutput, successOutput } from "@pawl/tool-value";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { ackOf } from "../../src/request/model.ts";
import { acked, ask, cancelRequest, failed, ok, pend, resolved, reused, settle, settleLate, step, stepFailed, stepped, submit } from "./event.ts";
import { Tape, tool } from "./tape.ts";

const retry_policy = { type: "safe", max_attempts: 3, base_delay_ms: 100, max_delay_ms: 0 } as const;

/** A step that succeeded is reused by the next attempt, one that failed runs again; the third attempt is the last. */
export const retry = (): Tape => {
  const tape = Tape.open([tool("flaky", { retry_policy })]);
  tape.tell(
    submit("r", { c1: "flaky", c2: "flaky" }),
    "call_started c1",
    "execute r:c1 1.1",
    "call_started c2",
    "execute r:c2 1.1",
  );
  tape.tell(ask("r:c1", "a", step()), "step.run a").after(5);
  tape.tell(stepped("r:c1", "a"), "answer a of 5");
  tape.tell(ask("r:c1", "b", step()), "step.run b");
  tape.tell(stepFailed("r:c1", "b"), "answer b of 7").after(1);
  tape.tell(settle("r:c1", failed)).tell(settle("r:c2", failed));
  tape.tick(99).tick(1, "execute r:c1 2.1", "execute r:c2 2.1");
  tape.refuses(settle("r:c1"), "stale_run");
  tape.tell(reused("r:c1", 2, "a"), "answer a of 12");
  tape.tell(ask("r:c1 2.1", "b", step()), "step.run b");
  tape.tell(stepped("r:c1 2.1", "b"), "answer b of 14");
  tape.tell(settle("r:c1 2.1"), "call_completed c1");
  tape.tell(settle("r:c2 2.1", failed)).tick(200, "execute r:c2 3.1");
  tape.tell(settle("r:c2 3.1", failed), "call_completed c2", "reply r");
  return tape.tell(acked("r"));
};

/** All parallel calls at once, as far as there are slots; then the serial ones, one at a time, in their order. */
export const parallelAndSerial = (): Tape => {
  const tape = Tape.open([tool("quick"), tool("careful", { scheduling: "serial" })], { concurrency: 2 });
  const calls = { c1: "careful", c2: "quick", c3: "quick", c4: "careful", c5: "quick", c6: "unknown" };
  tape.tell(
    submit("r", calls),
    "call_started c6",
    "call_completed c6",
    "call_started c2",
    "execute r:c2 1.1",
    "call_started c3",
    "execute r:c3 1.1",
  );
  tape.after(3).tell(settle("r:c3"), "call_completed c3", "call_started c5", "execute r:c5 1.1");
  tape.tell(settle("r:c2"), "call_completed c2");
  tape.tell(settle("r:c5"), "call_completed c5", "call_started c1", "execute r:c1 1.1");
  tape.tell(settle("r:c1", errorOutput("no")), "call_completed c1", "call_started c4", "execute r:c4 1.1");
  tape.tell(settle("r:c4"), "call_completed c4", "reply r");
  tape.refuses(settle("r:c4"), "call_unknown");
  return tape.tell(acked("r")).refuses(acked("r"), "request_unknown");
};

const before = (call: string, ...directives: readonly object[]): Event =>
  ({ type: "hook.ran", call, phase: "before", outcome: { status: "ok", directives } }) as Event;

/** Hooks before and after, a check, a tool that prepares, and the host's projection: each asked for, each answered. */
export const preparation = (): Tape => {
  const options = { before_hook: true, after_hook: true, projection: true };
  const tape = Tape.open([tool("full", { checks: true, prepares: true })], options);
  tape.tell(submit("r", { c1: "full", c2: "full", c3: "full" }), "hook before r:c1");
  tape.tell(
    before("r:c1", { kind: "replace_tool_args", args: { n: 10 } }, { kind: "emit_runtime_events" }),
    "args.check r:c1",
  );
  tape.tell({ type: "args.checked", call: "r:c1", verdict: { verdict: "valid" } }, "tool.prepare r:c1");
  const plan = {
    type: "prepared",
    tool_id: "tool:full",
    args: { n: 11 },
    args_hash: "h",
    payload: { plan: [1] },
  } as const;
  tape.tell({ type: "call.prepared", call: "r:c1", preparation: plan }, "hook before r:c2");
  tape.tell(
    before("r:c2", { kind: "short_circuit_tool", output: successOutput("known") }),
    "result.project r:c2",
    "hook before r:c3",
  );
  tape.tell({ type: "result.projected", call: "r:c2", parts: ["known"] }, "call_started c2", "call_completed c2");
  tape.tell(before("r:c3"), "args.check r:c3");
  const verdict = { verdict: "invalid", message: "$.n: expected a string" } as const;
  tape.tell(
    { type: "args.checked", call: "r:c3", verdict },
    "result.project r:c3",
    "call_started c1",
    "execute r:c1 1.1",
  );
  tape.tell({ type: "result.projected", call: "r:c3", parts: [] }, "call_started c3", "call_completed c3");
  tape.after(8).tell(settle("r:c1"), "hook after r:c1");
  tape.tell(
    { type: "hook.ran", call: "r:c1", phase: "after", outcome: { status: "err", message: "hook down" } },
    "result.project r:c1",
  );
  tape.tell({ type: "result.projected", call: "r:c1", parts: [{ text: "internal" }] }, "call_completed c1", "reply r");
  return tape.tell(acked("r"));
};

const careful = tool("delete", { policy: "requires_approval", checks: true });
const prepared = (call: string, more: { readonly approval?: "waived" } = {}): Event => ({
  type: "call.prepared",
  call,
  preparation: {
    type: "prepared",
    tool_id: "tool:delete",
    args: { path: call },
    args_hash: `hash of ${call}`,
    payload: null,
    ...more,
  },
});
const checked = (call: string, more: object = { verdict: { verdict: "valid" } }): Event =>
  ({ type: "args.checked", call, ...more }) as Event;
const decided = (call: string, decision: object, more: object = {}): Event =>
  ({ type: "approval.decided", call, decision, args_hash: `hash of ${call}`, by: "user:ada", ...more }) as Event;
const approve = { type: "approve" };

/** Up to the parked calls of one request. */
const park = (tape: Tape, request: string, ids: readonly string[]): Tape => {
  const refs = ids.map((id) => `${request}:${id}`);
  tape.tell(submit(request, Object.fromEntries(ids.map((id) => [id, "delete"]))), `args.check ${refs[0]}`);
  for (const [i, ref] of refs.entries()) {
    tape.tell(checked(ref), `tool.prepare ${ref}`);
    const next = refs[i + 1] === undefined ? [] : [`args.check ${refs[i + 1]}`];
    tape.tell(prepared(ref), `call_started ${ids[i]}`, `call_parked ${ids[i]}`, ...next);
  }
  return tape;
};

/** Decided last to first, one with edited arguments, one refused; replies keep the order of the request. */
export const approvals = (): Tape => {
  const tape = park(Tape.open([careful]), "r", ["c1", "c2", "c3"]);
  tape.after(60_000).refuses(decided("r:c3", approve, { args_hash: "of something else" }), "stale_decision");
  tape.tell(decided("r:c3", approve), ...tape.decided("c3"), "execute r:c3 1.1");
  tape.tell(decided("r:c1", { type: "approve_edited", args: { path: 1 } }), "args.check r:c1");
  tape.tell(checked("r:c1", { verdict: { verdict: "invalid", message: "$.path: expected a string" } }));
  tape.tell(decided("r:c2", { type: "reject", reason: "not that one" }), ...tape.decided("c2"), "call_completed c2");
  tape.tell(decided("r:c1", { type: "approve_edited", args: { path: "kept" } }), "args.check r:c1");
  tape.tell(
    checked("r:c1", { verdict: { verdict: "valid" }, args_hash: "hash of kept" }),
    ...tape.decided("c1"),
    "execute r:c1 1.1",
  );
  tape.tell(settle("r:c1"), "call_completed c1");
  return tape.tell(settle("r:c3"), "call_completed c3", "reply r").tell(acked("r"));
};

/** The tool finds that small amounts need no approval: such a call runs at once, and after a crash it is asked for none. */
export const waivedApprovals = (): Tape => {
  const tape = Tape.open([{ ...careful, checks: false, waives_approval: true, durable: true }]);
  tape.tell(submit("r", { c1: "delete", c2: "delete" }), "tool.prepare r:c1");
  tape.tell(prepared("r:c1", { approval: "waived" }), "tool.prepare r:c2");
  tape.tell(
    prepared("r:c2"),
    "call_started c2",
    "call_parked c2",
    "call_started c1",
    "execute r:c1 1.1",
  );
  const lost = { type: "owner.lost", owner: "d1" } as const;
  tape.tell(lost, "call_crashed c1", "execute r:c1 1.2 owner_lost");
  tape.tell({ type: "call.resumed", call: "r:c1", attempt: 1, run: 2, cause: "owner_lost", owner: "d2" });
  tape.tell(settle("r:c1 1.2"), "call_completed c1");
  tape.tell(decided("r:c2", approve), ...tape.decided("c2"), "execute r:c2 1.1");
  return tape.tell(settle("r:c2"), "call_completed c2", "reply r").tell(acked("r"));
};

const granted = (call: string, attempt = 1): Event => ({ type: "place.granted", call, attempt });

/** Calls wait for places in the queue of their tool: before they begin, and before they are tried again. */
export const queues = (): Tape => {
  const tape = Tape.open([tool("render", { queue: "gpu", retry_policy })]);
  tape.tell({ ...submit("r", { c1: "render", c2: "render" }), priority: 3 } as Event, "place.take r:c1", "place.take r:c2");
  tape.tell(granted("r:c1"), "call_started c1", "execute r:c1 1.1");
  tape.tell({ type: "owner.lost", owner: "d1" }, "call_crashed c1", "execute r:c1 1.2 owner_lost");
  tape.tell({ type: "call.resumed", call: "r:c1", attempt: 1, run: 2, cause: "owner_lost", owner: "d2" });
  tape.tell(settle("r:c1 1.2", failed));
  tape.after(100).tell({ type: "clock.ticked" }, "place.take r:c1");
  tape.tell(granted("r:c1", 2), "execute r:c1 2.1");
  tape.tell(settle("r:c1 2.1"), "call_completed c1");
  tape.tell(cancelRequest("r"), "call_started c2", "call_completed c2", "reply r");
  return tape.tell(acked("r"));
};

/** A sticky decision for later calls, and one for those too that are parked; an approval that nobody gives expires. */
export const stickyApprovals = (): Tape => {
  const tape = park(Tape.open([careful]), "r", ["c1", "c2", "c3"]);
  tape.tell(decided("r:c2", approve, { sticky: "later" }), ...tape.decided("c2"), "execute r:c2 1.1");
  tape.tell(submit("later", { d1: "delete" }), "args.check later:d1");
  tape.tell(checked("later:d1"), "tool.prepare later:d1");
  tape.tell(prepared("later:d1"), "call_started d1", "execute later:d1 1.1");
  tape.tell(
    decided("r:c3", { type: "reject", reason: "no more" }, { sticky: "parked_too" }),
    ...tape.decided("c3"),
    "call_completed c3",
    ...tape.decided("c1"),
    "call_completed c1",
  );
  tape.tell(settle("r:c2"), "call_completed c2", "reply r");
  tape.tell(submit("last", { e1: "delete" }), "args.check last:e1").tell(checked("last:e1"), "tool.prepare last:e1");
  tape.tell(prepared("last:e1"), "call_started e1", "call_completed e1", "reply last");
  tape.tell(settle("later:d1"), "call_completed d1", "reply later");
  return tape.tell(acked("last")).tell(acked("later")).tell(acked("r"));
};

export const approvalExpires = (): Tape => {
  const tape = park(Tape.open([{ ...careful, approval_ms: 3_600_000 }]), "r", ["c1"]);
  tape.tick(3_599_999).tick(1, "call_completed c1", "reply r");
  return tape.refuses(decided("r:c1", approve), "call_unknown").tell(acked("r"));
};

/** Told to stop, one call finishes within the grace and keeps its outcome, one does not and reports late. */
export const cancel = (): Tape => {
  const retrying = tool("flaky", { retry_policy });
  const tape = Tape.open([tool("slow"), retrying, tool("careful", { scheduling: "serial" })]);
  const calls = { c1: "slow", c2: "slow", c3: "flaky", c4: "slow", c5: "careful" };
  const started = ["c1", "c2", "c3", "c4"].flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]);
  tape.tell(submit("r", calls), ...started);
  tape.tell(settle("r:c3", failed)).tell(pend("r:c4", "key-4"));
  tape
    .after(10)
    .tell(
      cancelRequest("r"),
      "tool.cancel r:c1",
      "tool.cancel r:c2",
      "call_completed c3",
      "external.cancel key-4",
      "call_completed c4",
      "call_started c5",
      "call_completed c5",
    );
  tape.after(20).tell(settle("r:c1"), "call_completed c1");
  tape.tell({ type: "external.cancel_acked", key: "key-4" });
  tape.tick(29).tick(1, "call_completed c2", "reply r");
  tape.tell(settleLate("r:c2"));
  return tape.tell(acked("r"));
};

/** One call of two is cancelled; it reports late while the other still runs, and observers see it. */
export const cancelOne = (): Tape => {
  const tape = Tape.open([tool("slow")], { grace_ms: 1000 });
  tape.tell(
    submit("r", { c1: "slow", c2: "slow" }),
    "call_started c1",
    "execute r:c1 1.1",
    "call_started c2",
    "execute r:c2 1.1",
  );
  tape.tell({ type: "call.cancelled", call: "r:c1", by: "user:ada" }, "tool.cancel r:c1");
  tape.tell({ type: "call.cancelled", call: "r:c1" });
  tape.tick(1000, "call_completed c1").refuses({ type: "call.cancelled", call: "r:c1" }, "call_ended");
  tape.tell(settleLate("r:c1"), "call_settled_late c1");
  return tape.tell(settle("r:c2"), "call_completed c2", "reply r").tell(acked("r"));
};

/** Completed from outside: in time, by a timeout that ends the turn, and by a word that came before the call was pending. */
export const pending = (): Tape => {
  const tape = Tape.open([tool("order", { recovery: "externally_owned" })]);
  const ids = ["c1", "c2", "c3"];
  tape.tell(
    submit("r", { c1: "order", c2: "order", c3: "order" }),
    ...ids.flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]),
  );
  tape.tell(resolved("key-3", ok("early")));
  tape
    .tell(pend("r:c1", "key-1"))
    .tell(pend("r:c2", "key-2", { on_timeout: "fail_turn", deadline: { secs: 2, nanos: 500_000_000 } }));
  tape.tell(pend("r:c3", "key-3"), "call_completed c3");
  tape.tick(2499).tick(1, "call_completed c2");
  tape.refuses(resolved("key-2", ok("late")), "already_resolved");
  const payload = { code: "declined", message: "no funds", raw: { left: 3 } };
  tape.tell(resolved("key-1", { status: "err", payload }), "call_completed c1", "reply r");
  return tape.tell(acked("r"));
};

/** Requests that are done, failed and cancelled: each acknowledged with its end, and with the event that submitted it. */
export const endedRequests = (): Tape => {
  const tape = Tape.open([tool("quick")]);
  for (const [request, output] of [
    ["good", undefined],
    ["bad", errorOutput("no")],
  ] as const) {
    tape.tell(submit(request, { c: "quick" }), "call_started c", `execute ${request}:c 1.1`);
    tape.tell(settle(`${request}:c`, output), "call_completed c", `reply ${request}`);
  }
  tape.tell(submit("left", { c: "quick" }), "call_started c", "execute left:c 1.1");
  tape.tell(cancelRequest("left"), "tool.cancel left:c");
  const stopped = { outcome: { status: "cancelled", payload: { message: "stopped", source: "cancellation" } } } as const;
  tape.tell(settle("left:c", stopped), "call_completed c", "reply left");
  tape.refuses({ type: "reply.acked", request: "bad", born: 3, ended: "failed" }, "no_reply_waits");
  for (const request of ["bad", "left", "good"]) tape.tell(ackOf(tape.state, request));
  return tape;
};

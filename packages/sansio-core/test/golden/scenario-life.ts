/** Lives of a call: its keys, its attempts, its clock, and the decisions on it, over `continueAs` and an upgrade. */
import type { Event } from "../../src/kernel/vocabulary.ts";
import { acked, ask, failed, ok, resumed, reused, settle, step, stepped, submit, suspended } from "./event.ts";
import { Tape, tool, underProtocol } from "./tape.ts";

const own = (key: string, whose: "life" | "call" = "life") => ({ kind: "wait", wait: key, own: whose }) as const;
const told = (key: string, life?: number): Event => ({
  type: "wait.resolved",
  key,
  resolution: ok(key),
  call: "r:c1",
  ...(life === undefined ? {} : { life }),
});

/** Ends a life of `c1` in this run, and begins the next. */
const anew = (tape: Tape, attempt: number, run: number, signals?: readonly { name: string; ordinal: number }[]): Tape => {
  const said = signals === undefined ? {} : { signals };
  const args = { page: run + 1 };
  const continued = { type: "call.continued", call: "r:c1", attempt, run, args, args_hash: `hash ${run + 1}`, ...said } as const;
  tape.tell(continued, `execute r:c1 ${attempt}.${run + 1} continued`);
  return tape.tell(resumed(`r:c1 ${attempt}.${run + 1}`, "continued", "d1"));
};

const retries = { retry_policy: { type: "safe", max_attempts: 2, base_delay_ms: 1000, max_delay_ms: 0 } } as const;
const busy = (run: string): Event => settle(run, failed);

/** Waits of a life and of the call, resolved in time, early, and too late; attempts of each life; what each was handed. */
export const lives = (): Tape => {
  const tape = Tape.open([tool("durable", retries)]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(told("early", 1)).tell(told("kept"));
  tape.tell(ask("r:c1", "w1", own("awaited"))).tell(ask("r:c1", "w2", own("all lives", "call")));
  tape.tell(told("awaited", 1), "answer w1 of 8");
  anew(tape, 1, 1, [{ name: "go", ordinal: 2 }]);
  tape.refuses(told("early", 1), "already_resolved").refuses(told("never asked for", 1), "already_resolved");
  tape.tell(ask("r:c1 1.2", "w1", own("kept", "call")), "answer w1 of 11");
  tape.tell(ask("r:c1 1.2", "w2", own("all lives", "call"))).tell(suspended("r:c1 1.2"));
  tape.tell(told("all lives"), "execute r:c1 1.3 suspended").tell(resumed("r:c1 1.3", "suspended", "d1"));
  tape.tell(ask("r:c1 1.3", "s", step()), "step.run s").after(50).tell(stepped("r:c1 1.3", "s"), "answer s of 17");
  tape.tell(busy("r:c1 1.3")).tick(1000, "execute r:c1 2.1");
  tape.tell(reused("r:c1", 2, "s"), "answer s of 20");
  anew(tape, 2, 1, [{ name: "go", ordinal: 3 }, { name: "stop", ordinal: 1 }]);
  tape.tell(busy("r:c1 2.2")).tick(1000, "execute r:c1 3.1");
  tape.tell(busy("r:c1 3.1"), "call_completed c1", "reply r");
  tape.refuses(told("kept"), "already_resolved");
  return tape.tell(acked("r"));
};

/** Found by the upgrade in its second attempt: that keeps its clock, and the life its keys; what comes next is new. */
export const upgradedLives = (): Tape => {
  const guarded = tool("guarded", { durable: false, recovery: "owner_bound", policy: "requires_approval" });
  const durable = tool("durable", { retry_policy: { ...retries.retry_policy, max_attempts: 9 } });
  const tape = underProtocol(1, () => Tape.open([durable, guarded], { resolver: true }));
  const preparation = { type: "prepared", tool_id: "tool:guarded", args: 1, args_hash: "hash 1", payload: null } as const;
  const approve = { type: "approval.decided", call: "r:c2", decision: { type: "approve" }, by: "ada" } as const;
  tape.note(submit("r", { c1: "durable", c2: "guarded" })).note({ type: "call.prepared", call: "r:c2", preparation });
  tape.note({ ...approve, args_hash: "hash 1" });
  tape.note({ type: "call.continued", call: "r:c2", attempt: 1, run: 1, args: 2 }).note(resumed("r:c2 1.2", "continued", "d1"));
  tape.note(ask("r:c1", "s", step())).after(50).note(stepped("r:c1", "s")).note(busy("r:c1"));
  tape.tick(1000, "execute r:c1 2.1");
  tape.tell({ type: "scope.upgraded", to: 2, continued: [{ call: "r:c2", args_hash: "hash 2" }] });
  tape.tell(reused("r:c1", 2, "s"), `answer s of ${tape.seq + 1}`);
  tape.tell(busy("r:c1 2.1")).tick(2000, "execute r:c1 3.1");
  tape.tell(reused("r:c1", 3, "s"), `answer s of ${tape.seq + 1}`);
  tape.tell({ type: "owner.lost", owner: "d1" }, "execute r:c1 3.2 owner_lost", "outcome.resolve r:c2");
  tape.tell(resumed("r:c1 3.2", "owner_lost", "d2"));
  tape.tell({ type: "outcome.resolved", call: "r:c2", resolved: { type: "run_again" } }, "call_parked c2");
  tape.refuses({ ...approve, args_hash: "hash 1" }, "stale_decision");
  tape.tell({ ...approve, args_hash: "hash 2" }, ...tape.decided("c2"), "execute r:c2 1.3 run_again").tell(resumed("r:c2 1.3", "run_again", "d2"));
  tape.tell(settle("r:c2 1.3"), "call_completed c2");
  anew(tape, 3, 2);
  return tape.tell(settle("r:c1 3.3"), "call_completed c1", "reply r").tell(acked("r"));
};

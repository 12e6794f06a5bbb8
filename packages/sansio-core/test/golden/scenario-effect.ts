/** What became of effects under protocol 2: steps that are tried again, and ends of bodies that wait for them. */
import type { Event } from "../../src/kernel/vocabulary.ts";
import { acked, ask, continued, failed, resumed, reused, settle, step, stepped, submit, suspended } from "./event.ts";
import { streamIn } from "../../src/call/effect/stream.ts";
import type { EffectSpec } from "../../src/call/effect/effect.ts";
import { Tape, tool } from "./tape.ts";

const tryFailed = (tape: Tape, key: string, tried: number, retry_in_ms: number, run = 1): Event => {
  const row = tape.state.calls.at("r:c1");
  const attempt = row !== undefined && "body" in row ? (row.body?.attempt ?? 1) : 1;
  const error = { code: "busy", message: "try again" };
  return { type: "step.failed", call: "r:c1", attempt, run, key, try: tried, error, retry_in_ms };
};

/** Tries that fail, with and without a delay; a crash repeats a try, and a late success settles a step that waits. */
export const stepRetries = (): Tape => {
  const tape = Tape.open([tool("durable")]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(ask("r:c1", "a", step()), "step.run a");
  tape.tell(tryFailed(tape, "a", 1, 0), "step.run a").tell(tryFailed(tape, "a", 2, 10_000));
  tape.refuses(tryFailed(tape, "a", 3, 0), "stale_try");
  tape.after(2000).tell(suspended("r:c1"));
  tape.tick(8000, "execute r:c1 1.2 suspended").tell(resumed("r:c1 1.2", "suspended", "d1"));
  tape.tell({ ...stepped("r:c1 1.2", "a"), try: 3 } as Event, "answer a of 10");
  tape.tell(ask("r:c1 1.2", "b", step("idempotent")), "step.run b").tell(tryFailed(tape, "b", 1, 500, 2));
  tape.tell(stepped("r:c1 1.2", "b", "late"), "answer b of 13");
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

/** The next attempt, the next life and the end come after the effects; a loser is not waited for, and some are left. */
export const effectsEnd = (): Tape => {
  const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
  const tape = Tape.open([tool("durable", { retry_policy })], { effects_ms: 30_000 });
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(ask("r:c1", "a", step()), "step.run a").refuses(settle("r:c1", failed), "effects_open");
  tape.tell(stepped("r:c1", "a"), "answer a of 5").tell(settle("r:c1", failed), "execute r:c1 2.1");
  tape.tell(ask("r:c1 2.1", "b", step()), "step.run b").tell(ask("r:c1 2.1", "c", step()), "step.run c");
  tape.tell(ask("r:c1 2.1", "race", { kind: "select", mode: "race", keys: ["b", "c"] }));
  tape.refuses(continued("r:c1 2.1", 2), "effects_open");
  tape.tell(stepped("r:c1 2.1", "c"), "answer c of 10", "answer race of 10");
  tape.tell(continued("r:c1 2.1", 2), "execute r:c1 2.2 continued").tell(resumed("r:c1 2.2", "continued", "d1"));
  tape.tell(ask("r:c1 2.2", "d", step("once")), "step.run d");
  tape.after(30_000).refuses(continued("r:c1 2.2", 3), "effects_open");
  const anew = { ...continued("r:c1 2.2", 3), left: ["d"] } as Event;
  tape.tell(anew, "execute r:c1 2.3 continued").tell(resumed("r:c1 2.3", "continued", "d1"));
  tape.tell(ask("r:c1 2.3", "e", step("once")), "step.run e");
  tape.after(30_000).refuses(settle("r:c1 2.3"), "effects_open");
  const left = { ...settle("r:c1 2.3"), left: ["e"] } as Event;
  return tape.tell(left, "call_completed c1", "reply r").tell(acked("r"));
};

const asks = (key: string, run: string, more: object = {}): Event =>
  ask(run, key, { kind: "approval", title: `Refund ${key}?`, args: { cents: 500 }, args_hash: "h", ...more });
const decided = (key: string, decision: object, more: object = {}): Event =>
  ({ type: "approval.decided", call: `r:c1/${key}`, decision, args_hash: "h", by: "user:ada", ...more }) as Event;

/** Bodies that ask a person: approved, with other arguments, rejected, and not decided in time; out of memory meanwhile. */
export const askedApprovals = (): Tape => {
  const tape = Tape.open([tool("durable")]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(asks("a", "r:c1", { schema: { type: "object" } }), "call_parked Refund a?");
  tape.refuses(decided("a", { type: "approve" }, { args_hash: "of something else" }), "stale_decision");
  tape.refuses(decided("a", { type: "approve" }, { sticky: "later" }), "stale_decision");
  tape.refuses(decided("b", { type: "approve" }), "call_unknown");
  tape.after(2000).tell(suspended("r:c1"));
  tape.tell(decided("a", { type: "approve" }), "execute r:c1 1.2 suspended").tell(resumed("r:c1 1.2", "suspended", "d1"));
  tape.tell(asks("b", "r:c1 1.2"), "call_parked Refund b?");
  tape.tell(decided("b", { type: "approve_edited", args: { cents: 100 } }), "answer b of 9");
  tape.tell(asks("c", "r:c1 1.2"), "call_parked Refund c?");
  tape.tell(decided("c", { type: "reject", reason: "not that much" }), "answer c of 11");
  tape.refuses(decided("c", { type: "approve" }), "call_unknown");
  tape.tell(asks("d", "r:c1 1.2", { deadline_ms: 60_000 }), "call_parked Refund d?").tick(60_000, "answer d of 13");
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

const patched = (event: Event, said: { readonly [name: string]: boolean }): Event => ({ ...event, patched: said }) as Event;

/** Plays what an attempt reuses of the one before, a select among it, and what its body is told of patches meanwhile. */
export const patches = (): Tape => {
  const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
  const tape = Tape.open([tool("durable", { retry_policy })]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(patched(ask("r:c1", "a", step()), { early: true }), "step.run a").tell(ask("r:c1", "b", step()), "step.run b");
  tape.tell(ask("r:c1", "race", { kind: "select", mode: "race", keys: ["a", "b"] }));
  tape.tell(stepped("r:c1", "b"), "answer b of 7", "answer race of 7").tell(stepped("r:c1", "a"), "answer a of 8");
  tape.tell(settle("r:c1", failed), "execute r:c1 2.1");
  tape.tell(patched(reused("r:c1", 2, "b"), { late: false }), `answer b of ${tape.seq + 1}`);
  tape.tell(reused("r:c1", 2, "a"), `answer a of ${tape.seq + 1}`);
  tape.tell({ ...reused("r:c1", 2, "race"), keys: ["a", "b"] } as Event, `answer race of ${tape.seq + 1}`);
  return tape.tell(patched(settle("r:c1 2.1"), { last: true }), "call_completed c1", "reply r").tell(acked("r"));
};

/** Plays what the producer of the stream `words` reports: its chunks, or that it begins again. */
const streamed = ({ state }: Tape, chunks: readonly string[] | undefined, last = false): Event => {
  const { attempts = [], chunks: from = 0, last: after, resumes } = streamIn(state, "r:c1", "words") ?? {};
  const of = { call: "r:c1", stream: "words", from, ...(after === undefined ? {} : { after }) };
  const keep = resumes === true ? { keep: attempts.at(-1)?.keep ?? 0 } : {};
  if (chunks === undefined) return { type: "stream.reset", ...of, attempt: attempts.length + 1, ...keep };
  return { type: "stream.recorded", ...of, attempt: attempts.length, chunks, ...(last ? { last } : {}) };
};

/** Streams: cut by a crash and begun again, whole in one life and gone on with in the next, by a producer that resumes. */
export const streams = (): Tape => {
  const words = { ...step(), stream: { name: "words" } } as EffectSpec;
  const tape = Tape.open([tool("durable")], { max_stream_chunks: 7 });
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(ask("r:c1", "words", words), "step.run words");
  tape.tell(streamed(tape, ["one ", "two "]), "stream.answer words").refuses(settle("r:c1"), "effects_open");
  const { options } = tape.state.scope;
  const opened: Event = { type: "scope.opened", epoch: 2, owner: "d2", protocol: tape.protocol, options };
  tape.tell(opened, "execute r:c1 1.2 owner_lost").tell(resumed("r:c1 1.2", "owner_lost", "d2"));
  tape.refuses(streamed(tape, ["three"]), "stale_stream").tell(streamed(tape, undefined));
  tape.tell(streamed(tape, ["uno ", "dos ", "tres"], true), "stream.answer words");
  tape.tell(stepped("r:c1 1.2", "words", { from: 2, to: 5 }), "answer words of 10");
  tape.tell(continued("r:c1 1.2", 2), "execute r:c1 1.3 continued").tell(resumed("r:c1 1.3", "continued", "d2"));
  const more = { ...step("idempotent"), stream: { name: "words", resumes: true } } as EffectSpec;
  tape.tell(ask("r:c1 1.3", "life:2:words", more), "step.run life:2:words");
  tape.tell(streamed(tape, ["four"]), "stream.answer life:2:words").tell(streamed(tape, undefined));
  tape.refuses(streamed(tape, ["five", "six"]), "stream_full");
  tape.tell(streamed(tape, ["five"], true), "stream.answer life:2:words");
  tape.tell(stepped("r:c1 1.3", "life:2:words", { from: 5, to: 7 }), "answer life:2:words of 17");
  return tape.tell(settle("r:c1 1.3"), "call_completed c1", "reply r").tell(acked("r"));
};

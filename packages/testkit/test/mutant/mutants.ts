/**
 * Mutants of the core, the runtime and journals, each with one change to the source. The hunt has to catch all of them.
 */
import type { absent } from "./absent.ts";
import type { given } from "./given.ts";
import type { kept } from "./kept.ts";
import type { proofs } from "./releases.ts";
import type { hunts } from "./scenarios.ts";
import type { simulations } from "./simulated.ts";
import { turnMutants } from "./turn-mutants.ts";

type Proofs = typeof proofs & typeof absent & typeof kept & typeof given & typeof simulations;

export interface Mutant {
  readonly what: string;
  /** The hunt that is known to catch it, which is tried first. Without it they are tried in their order. */
  readonly first?: keyof typeof hunts | keyof Proofs;
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /**
   * The explorer that has to catch it, and the text that it has to report. Without it any explorer and any text will
   * do.
   */
  readonly caught?: { readonly by: "crashes" | "chance" | "orders"; readonly saying: string };
}

const memory = "runtime/src/journal/memory-journal.ts";
const stored = "runtime/src/journal/memory-scope.ts";
const scope = "runtime/src/scope/runner.ts";
const uncommitted = "runtime/src/commit/uncommitted.ts";
const bodies = "runtime/src/body/bodies.ts";
const body = "runtime/src/body/body-run.ts";
const replayOrder = "runtime/src/body/replay.ts";
const recovery = "sansio-core/src/call/recovery/owner-lost.ts";
const ask = "sansio-core/src/call/effect/ask.ts";
const suspend = "sansio-core/src/call/suspend.ts";
const settle = "sansio-core/src/call/effect/settle.ts";
const waits = "sansio-core/src/wait/concern.ts";
const duty = "sansio-core/src/call/vocabulary.ts";
const recover = "sansio-core/src/call/recovery/owner-lost.ts";
const replies = "sansio-core/src/request/model.ts";
const crashLoop = "sansio-core/src/call/recovery/owner-lost.ts";
const absentTool = "sansio-core/src/call/recovery/absent-tool.ts";

export const mutants: readonly Mutant[] = [
  {
    what: "a journal that acknowledges without having written",
    file: memory,
    find: "    scope.write(append);\n",
    replace: "    if (append.expectedSeq % 3 !== 0) scope.write(append);\n",
  },
  {
    what: "a journal that takes the same append twice",
    first: "batches",
    file: stored,
    find: 'if (this.#appendIds.has(appendId)) return { type: "ok" };\n    return expectedSeq === this.#seq + 1 ?',
    replace: "return expectedSeq > 0 ?",
  },
  {
    what: "a journal that does not raise the epoch",
    file: stored,
    find: "this.epoch = Math.max(this.epoch, above) + 1;",
    replace: "this.epoch = Math.max(this.epoch, 1, above);",
  },
  {
    what: "a journal that loses the last line of an append",
    file: stored,
    find: "this.#lines.push(...lines);",
    replace: "this.#lines.push(...lines.slice(0, Math.max(1, lines.length - 1)));",
  },
  {
    what: "a core that takes what a body asks twice for a new request",
    file: ask,
    find: "if (open !== undefined) return mismatch(open, asked) ?? askOpen(open, asked);",
    replace: "",
  },
  {
    what: "a driver that acts before the record is durable",
    first: "unknown",
    file: scope,
    find: 'if (performed === "at_once" || isEarly)',
    replace: 'if (performed === "at_once" || isEarly || command.type === "step.run")',
  },
  {
    what: "a driver that answers its callers before the record is durable",
    first: "waiting",
    file: uncommitted,
    find: "    if (batch === undefined) return Promise.resolve();",
    replace: "    if (batch !== null) return Promise.resolve();",
  },
  {
    what: "a driver that issues nothing again after it opened a scope",
    file: scope,
    find: "for (const command of outstanding(this.#state)) this.#take(command, cause);",
    replace: "for (const command of outstanding(this.#state).slice(0, 0)) this.#take(command, cause);",
  },
  {
    what: "a driver that goes on after an append was refused",
    first: "unknown",
    file: scope,
    find: 'if (result.type !== "ok") return this.abandon(',
    replace: 'if (result.type === "conflict") return this.abandon(',
  },
  {
    what: "a driver that lets no deadline come",
    file: scope,
    find: 'if (due !== undefined && due <= this.#at()) return void this.apply({ type: "clock.ticked" });',
    replace: "",
  },
  {
    what: "a driver that keeps no deadlines, but those that it comes across",
    file: scope,
    find: "    this.#alarm.set(due, due === undefined ? 0 : due - this.#at());\n",
    replace: "",
    caught: { by: "crashes", saying: "ms late" },
  },
  {
    what: "a driver that wakes up three seconds after each deadline",
    file: scope,
    find: "due === undefined ? 0 : due - this.#at()",
    replace: "due === undefined ? 0 : due - this.#at() + 3000",
    caught: { by: "crashes", saying: "ms late" },
  },
  {
    what: "a zombie that goes on with steps when its lease has run out",
    first: "standing",
    file: scope,
    find: 'if (this.#instance.hasLapsed()) this.abandon("its lease may have run out");',
    replace: "",
    caught: { by: "crashes", saying: "owns no scope, and does" },
  },
  {
    what: "a journal that takes what a zombie appends",
    first: "standing",
    file: stored,
    find: "if (fenced !== undefined) return fenced;\n    if (this.#appendIds.has",
    replace: "if (fenced !== undefined) return undefined;\n    if (this.#appendIds.has",
    caught: { by: "crashes", saying: "frozen at" },
  },
  {
    what: "a driver that forgets what settled while it read the past",
    first: "batches",
    file: bodies,
    find: "if (now.body !== before?.body) return this.#begin(command, tool);",
    replace: "",
  },
  {
    what: "a driver that hands out several answers in one turn",
    first: "racing",
    file: bodies,
    find: "if (run.deliverNext()) delivered = true;",
    replace: "while (run.deliverNext()) delivered = true;",
  },
  {
    what: "a body that hears answers in the order in which they came, not of the log",
    file: replayOrder,
    find: "const byPlace = (a: Mark, b: Mark): number => a.seq - b.seq || a.index - b.index;",
    replace: "const byPlace = (a: Mark, b: Mark): number => b.seq - a.seq || a.index - b.index;",
  },
  {
    what: "a body that hears no cancel",
    first: "stopping",
    file: "runtime/src/body/stop.ts",
    find: "    signals.cancel();\n",
    replace: "",
  },
  {
    what: "a body that runs a recorded step again",
    file: ask,
    find: "if (settled === undefined || isForgotten(settled, asked.attempt))",
    replace: 'if (settled === undefined || settled.kind === "step" || isForgotten(settled, asked.attempt))',
  },
  {
    what: "a core that does not resume",
    file: recovery,
    find: "return row.due === undefined ? ofResuming(row) : undefined;",
    replace: "return undefined;",
  },
  {
    what: "a core that runs an owner-bound body again",
    first: "unknown",
    file: recover,
    find: 'const mayRun = recovery === "rerunnable" &&',
    replace: 'const mayRun = recovery !== "externally_owned" &&',
  },
  {
    what: "a core that runs a `once` step again",
    first: "unknown",
    file: ask,
    find: 'effect.recovery === "once"',
    replace: 'effect.hash === ""',
  },
  {
    what: "a core that begins the next try of a step after a crash",
    first: "trying",
    file: ask,
    find: 'type: "run", try: effect.try }',
    replace: 'type: "run", try: effect.try + 1 }',
  },
  {
    what: "a core that tries a step again without its delay",
    first: "trying",
    file: "sansio-core/src/call/effect/try.ts",
    find: "event.retry_in_ms === 0",
    replace: "event.retry_in_ms >= 0",
  },
  {
    what: "a body that ends while its step runs",
    first: "trying",
    file: "runtime/src/body/body-end.ts",
    find: "return this.#isOutOfTime || !isAwaiting;",
    replace: "return true;",
  },
  {
    what: "a host's answer that names another request",
    first: "person",
    file: "runtime/src/host/question.ts",
    find: "seq: open.seq, hash: open.hash }",
    replace: "seq: open.seq - 1, hash: open.hash }",
  },
  {
    what: "a core that lets the last resolution win",
    first: "waiting",
    file: waits,
    find: "if (row?.terminal !== undefined) {\n    return reject(",
    replace: "if (row?.terminal?.seq === 0) {\n    return reject(",
  },
  {
    what: "a core that forgets who waits when a resolution comes early",
    first: "waiting",
    file: waits,
    find: "if (row.terminal !== undefined) answer(draft, waiter, row.terminal);\n  else if",
    replace: "if",
  },
  {
    what: "a core that suspends a body whose batch is at work",
    first: "agent",
    file: "sansio-core/src/call/batch.ts",
    find: "batch?.calls.some((call) => isBusy(calls.at(call))) === false;",
    replace: "batch !== undefined;",
  },
  {
    what: "a core that keeps a body in memory that waits for a batch at rest",
    first: "agent",
    file: suspend,
    find: "isQuietBatch(draft.state, effectBatch(call.ref, effect.key));",
    replace: "draft.seq < 0;",
  },
  {
    what: "a core that wakes a body above for what its calls below are answered",
    first: "agent",
    file: settle,
    find: "putCall(draft, wake(draft, settleAll(draft, row as Bodied, effect, end)), row);",
    replace: `putCall(draft, wake(draft, settleAll(draft, row as Bodied, effect, end)), row);
  const above = draft.batch(row.call.batch)?.parent;
  const caller = above === undefined ? undefined : draft.call(above.call);
  if (caller?.phase === "suspended") putCall(draft, wake(draft, caller), caller);`,
  },
  {
    what: "a core that forgets what a person was asked when its owner is lost",
    first: "person",
    file: recover,
    find: 'if (row.phase === "suspended") return ofSuspended(row);',
    replace: "",
  },
  {
    what: "a core that suspends a body while its host is at work",
    first: "person",
    file: suspend,
    find: "      return effect.waiting !== undefined;",
    replace: "      return true;",
  },
  {
    what: "a driver whose suspended runs keep their places",
    first: "sharing",
    file: "runtime/src/process/run/background.ts",
    find: "for (const holder of this.#held.get(run) ?? []) this.release(run, holder);",
    replace: "",
  },
  {
    what: "a driver that never asks again for a body that had to stay in memory",
    first: "agent",
    file: bodies,
    find: "for (const run of this.#runs.values()) run.rest.retry();",
    replace: "",
  },
  {
    what: "a core that wakes no suspended body",
    first: "waiting",
    file: "sansio-core/src/call/effect/settle.ts",
    find: 'row.phase === "suspended" ? resuming(draft, row, { body: row.body, cause: "suspended" }) : row;',
    replace: "row;",
  },
  {
    what: "a core that does not tell running bodies their answers",
    file: settle,
    find: 'if (row.phase === "running") answer(draft, row, effect.key, settled);',
    replace: 'if (row.phase === "running" && effect.kind !== "sleep") answer(draft, row, effect.key, settled);',
  },
  {
    what: "a core that gives replies in another order",
    first: "batches",
    file: replies,
    find: "  calls.map((ref) => {",
    replace: "  calls.toReversed().map((ref) => {",
  },
  {
    what: "a core whose `once` steps run before they are on record",
    first: "unknown",
    file: duty,
    find: 'once: { performed: "durable", afterLoss: "never"',
    replace: 'once: { performed: "at_once", afterLoss: "never"',
  },
  {
    what: "a body whose steps have the keys of an earlier life",
    first: "living",
    file: "runtime/src/body/run-tool.ts",
    find: "    base: named(callBase),\n",
    replace: "    base: callBase,\n",
  },
  {
    what: "a body that waits under the keys of an earlier life",
    first: "living",
    file: "runtime/src/body/facet/wait.ts",
    find: 'return whose === "request" || life.number === 1 ? executionScope : base;',
    replace: "return executionScope;",
  },
  {
    what: "a body whose batches have the ids of an earlier life",
    first: "living",
    file: "runtime/src/body/facet/concurrency.ts",
    find: "asking.nextName(asking.facts.life.named(batchId(listed).batch_id))",
    replace: "asking.nextName(batchId(listed).batch_id)",
  },
  {
    what: "a core that lets the token of an earlier life resolve",
    first: "living",
    file: waits,
    find: "if (call !== undefined && isLifeOver(draft.call(call), life)) {",
    replace: 'if (call === "" && isLifeOver(draft.call(call), life)) {',
  },
  {
    what: "a body that reads the clock of the wall",
    first: "retrying",
    file: body,
    find: "this.#now = answer.at;",
    replace: "this.#now = this.#port.platform.now();",
  },
  {
    what: "a body that reads the time of a reuse",
    first: "retrying",
    file: settle,
    find: "? (effect.first ?? effect.settled) : undefined",
    replace: "? undefined : undefined",
  },
  {
    what: "a core that takes decisions on the arguments of an earlier life",
    first: "deciding",
    file: "sansio-core/src/call/life.ts",
    find: 'manifest.policy === "requires_approval" ? argsHash : ""',
    replace: '""',
  },
  {
    what: "a core that gives up after the first attempt",
    first: "retrying",
    file: "sansio-core/src/call/launch.ts",
    find: 'terms.type === "never" ? 1 : Math.max(1, Number(terms.max_attempts))',
    replace: "1",
  },
  {
    what: "a runtime that forgets the upgrade when it opens a scope",
    first: "upgrading",
    file: "runtime/src/scope/open-scope.ts",
    find: "const protocol = Math.max(scope.protocol, newest);",
    replace: "const protocol = scope.epoch === 0 ? newest : scope.protocol;",
    caught: { by: "crashes", saying: "opened it under protocol 1, expected 2" },
  },
  {
    what: "a runtime that judges losses by the older protocol, and upgrades then",
    first: "upgrading",
    file: "runtime/src/scope/open-scope.ts",
    find: "return [upgraded, opened];",
    replace:
      "const old = scope.protocol; const asOld = { protocol: old, options: optionsUnder(old, given), ...versions.toldTo(state, old) };" +
      'return [{ type: "scope.opened", epoch, owner, ...asOld }, upgraded];',
    caught: { by: "crashes", saying: "opened it under protocol 1, expected 2" },
  },
  {
    what: "a runtime that upgrades what is to stay readable for older ones",
    first: "upgrading",
    file: "runtime/src/scope/open-scope.ts",
    find: 'upgrade === "never" ? 1 :',
    replace: 'upgrade === "auto" ? 1 :',
  },
  {
    what: "a core that counts an owner which released its scope",
    first: "looping",
    file: crashLoop,
    find: 'if (went === "released" || body.hasRecord)',
    replace: "if (body.hasRecord)",
  },
  {
    what: "a core that counts a crash in spite of a record",
    first: "looping",
    file: crashLoop,
    find: 'if (went === "released" || body.hasRecord)',
    replace: 'if (went === "released")',
  },
  {
    what: "a core that counts on after a record",
    first: "looping",
    file: crashLoop,
    find: "({ ...body, resumes: 0, hasRecord: ",
    replace: "({ ...body, hasRecord: ",
  },
  {
    what: "a core that ends a call at the limit of crashes",
    first: "looping",
    file: crashLoop,
    find: 'if (body.manifest.on_crash_loop === "fail")',
    replace: 'if (body.manifest.on_crash_loop !== "park")',
  },
  {
    what: "a host that starts all calls at once that crash again and again",
    first: "suspects",
    file: "runtime/src/lifecycle/crash-turn.ts",
    find: "return suspect === undefined ? begin()",
    replace: "return suspect !== null ? begin()",
  },
  {
    what: "a core that knows a lost run by the code of its output",
    first: "liars",
    file: "sansio-core/src/run/finish.ts",
    find: 'if (!hasRule(protocol, "lost_runs")) {',
    replace: "if (protocol > 0) {",
  },
  {
    what: "a core that ends a call as soon as it diverged",
    first: "rolledBack",
    file: "sansio-core/src/call/recovery/unknown.ts",
    find: '? withoutVersion(draft, row, row.body, { cause: "diverged", version })',
    replace: '? endUnknown(draft, row, row.body, "diverged")',
  },
  {
    what: "a core that begins a version again that diverged",
    first: "rolledBack",
    file: "sansio-core/src/call/handlers.ts",
    find: "if (hasFailed(row.body, version))",
    replace: 'if (version === "" && hasFailed(row.body, version))',
  },
  {
    what: "a core whose versions throw a call to and fro",
    first: "rolledBack",
    file: "sansio-core/src/call/recovery/parked.ts",
    find: "failed: [...body.failed, failed] };",
    replace: "failed: [failed] };",
  },
  {
    what: "a core that heals nothing",
    first: "rolledBack",
    file: "sansio-core/src/call/recovery/unknown.ts",
    find: "if (isHealable(draft, row.body)) move(",
    replace: "if (isHealable(draft, row.body) && row.call.index < 0) move(",
  },
  {
    what: "a core that loses what may run only once with a release",
    first: "released",
    file: "sansio-core/src/call/recovery/unknown.ts",
    find: ".filter(([, { once }]) => once)",
    replace: ".filter(([, { once }]) => !once)",
  },
  {
    what: "a body that is told true of a patch in an old life",
    first: "besideItself",
    file: "runtime/src/body/record.ts",
    find: "return this.#left === 0;",
    replace: "return this.#left >= 0;",
  },
  {
    what: "a body whose patches are told and never recorded",
    first: "besideItself",
    file: "runtime/src/body/record.ts",
    find: "return unsaid;",
    replace: "return unsaid === undefined ? unsaid : undefined;",
  },
  {
    what: "a core that ends a call whose tool is away when it is to start",
    first: "unlaunched",
    file: absentTool,
    find: "hasRule(draft.scope.protocol, rule) && !draft.catalog.byId.has(manifest.id);",
    replace: 'manifest.id === "" && !draft.catalog.byId.has(manifest.id);',
  },
  {
    what: "a core that does not ask a tool again that was away",
    first: "unprepared",
    file: absentTool,
    find: "  if (question !== undefined) draft.emit(question);\n",
    replace: "",
  },
  {
    what: "a host that takes a tool which is away for one that prepares nothing",
    first: "unprepared",
    file: "runtime/src/host/prepare.ts",
    find: "port.tool(toolId) === undefined && mayWait(state, call)",
    replace: "port.tool(toolId) === undefined && call.length === 0",
  },
  {
    what: "a core that keeps a body in memory beside a step that an earlier attempt left",
    first: "leaving",
    file: suspend,
    find: 'effect.kind === "step" && effect.attempt < attempt;',
    replace: 'effect.kind === "step" && effect.attempt > attempt;',
  },
  {
    what: "a body that waits for ever for what it left",
    first: "leaving",
    file: "runtime/src/body/body-end.ts",
    find: "    this.#isOutOfTime = true;\n",
    replace: "",
  },
  {
    what: "a body that does not say what it left",
    first: "leaving",
    file: "runtime/src/body/body-end.ts",
    find: "row.cancelled === undefined ? awaitedEffects(state, call) : undefined;",
    replace: "row.cancelled === undefined ? [] : undefined;",
  },
  {
    what: "a core that lets no body end beside what it leaves",
    first: "leaving",
    file: "sansio-core/src/call/finish.ts",
    find: ".filter((key) => !left.includes(key));",
    replace: ";",
  },
  {
    what: "a core that takes the failure of a try that another has followed",
    first: "outlasting",
    file: "sansio-core/src/call/effect/try.ts",
    find: "return found === now || isSuccess ?",
    replace: "return found <= now || isSuccess ?",
  },
  {
    what: "a core that drops the success of a try that another has followed",
    first: "outlasting",
    file: "sansio-core/src/call/effect/try.ts",
    find: "return found === now || isSuccess ?",
    replace: "return found === now ?",
  },
  {
    what: "a body that drops the success of a try that has run out of time",
    first: "outlasting",
    file: "runtime/src/body/step-work.ts",
    find: 'if (result.status === "ok") this.#settle(key, result, tried);',
    replace: 'if (result.status === "ok") tried.isOutOfTime || this.#settle(key, result, tried);',
  },
  {
    what: "a core that wakes nobody when a link has room",
    first: "simulated",
    file: suspend,
    find: ".slice(0, Math.max(0, room));",
    replace: ".slice(0, 0);",
  },
  {
    what: "a core that does not say why nobody knows the outcome of a call",
    first: "looping",
    file: "sansio-core/src/call/recovery/parked.ts",
    find: 'hasRule(draft.scope.protocol, "crash_loops") ? { ...end, cause } : end',
    replace: "end",
  },
  {
    what: "a body that is told of an unknown step before the requests in front of it are on record",
    first: "inPlace",
    file: "runtime/src/body/body-port.ts",
    find: 'has("unknown_step_in_place") ? requests.ask(id.call, settle) : void settle();',
    replace: "void settle();",
  },
  {
    what: "a core that ends a background run with its process",
    first: "goesOn",
    file: "sansio-core/src/run/run.ts",
    find: 'if (mayBegin || hasRule(scope.protocol, "lost_runs")) return',
    replace: "if (mayBegin) return",
  },
  {
    what: "a core whose tasks forget at their end what they showed",
    first: "goesOn",
    file: "sansio-core/src/run/run.ts",
    find: "return { state_detail: detail, ...(progress === undefined ? {} : { progress }) };",
    replace: "return progress === undefined ? {} : { progress };",
  },
  {
    what: "a core that tells no caller what was triggered below its calls",
    first: "triggered",
    file: settle,
    find: 'if (!hasRule(draft.scope.protocol, "nested_triggers")) return above;',
    replace: "if (above.length > 0) return above;",
  },
  {
    what: "a producer that leaves a chunk of each group off the record",
    first: "streaming",
    file: "runtime/src/stream/producer.ts",
    find: "chunks: this.#group, ...last",
    replace: "chunks: this.#group.slice(0, Math.max(1, this.#group.length - 1)), ...last",
  },
  {
    what: "a producer that resumes and is not told what is on record",
    first: "streaming",
    file: "runtime/src/body/stream-replay.ts",
    find: "return this.#streams.get(key)?.chunks ?? [];",
    replace: "return [];",
  },
  {
    what: "a body that hears the chunks of a stream out of their place",
    first: "streaming",
    file: "runtime/src/body/replay.ts",
    find: 'for (const { key: part, seq, index } of parts) marks.push({ key: part, type: "answer", seq, index });',
    replace: "",
  },
  {
    what: "a reader that is never told of a reset",
    first: "streaming",
    file: "runtime/src/stream/reader.ts",
    find: "if (!this.#isRecordedOnly) return reset;",
    replace: "",
  },
  {
    what: "a reader that asks by a number and is shown what is not on record",
    first: "streaming",
    file: "runtime/src/stream/reader.ts",
    find: "if (this.#isRecordedOnly || buffer.attempt !== this.#attempt) return undefined;",
    replace: "if (buffer.attempt !== this.#attempt) return undefined;",
  },
  {
    what: "a core that gives the number of a chunk twice",
    first: "streaming",
    file: "sansio-core/src/call/effect/stream.ts",
    find: "const grown = { chunks: stream.chunks + chunks.length,",
    replace: "const grown = { chunks: stream.chunks + Math.min(1, chunks.length),",
  },
  {
    what: "a core whose later attempt of a stream begins at its first chunk",
    first: "streaming",
    file: "sansio-core/src/call/effect/stream.ts",
    find: "const attempts = [...stream.attempts, { seq: draft.seq, from, keep }];",
    replace: "const attempts = [...stream.attempts, { seq: draft.seq, from: 0, keep: 0 }];",
  },
  ...turnMutants,
];

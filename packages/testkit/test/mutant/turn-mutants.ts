/** Mutants of turns: the core and the runtime, each with one change in how a model is asked, paid, heard or obeyed. */
import type { Mutant } from "./mutants.ts";

const turn = "sansio-core/src/turn/";
const events = `${turn}model-event.ts`;
const failure = `${turn}failure.ts`;
const checkpoint = `${turn}checkpoint.ts`;
const batchEnd = `${turn}batch-end.ts`;

export const turnMutants: readonly Mutant[] = [
  {
    what: "a core that takes the answer of an attempt that is not open",
    first: "simulated",
    file: events,
    find: "return isOf(of, row, phase.call) ? { row, phase, call: phase.call } : undefined;",
    replace: "return of.n === phase.call.n ? { row, phase, call: phase.call } : undefined;",
  },
  {
    what: "a core that goes on with an answer which comes after a cancel",
    first: "turnCases",
    file: events,
    find: 'if (phase.type === "stopping") stopped(draft, row, phase, event.pieces);\n  else answered(',
    replace:
      'if (phase.type === "stopping" && draft.seq < 0) stopped(draft, row, phase, event.pieces);\n  else answered(',
  },
  {
    what: "a core that makes the calls of an answer before it is whole",
    first: "simulated",
    file: events,
    find: "  put(draft, { ...row, phase: { ...phase, call: { ...call, ...said } } });",
    replace: `  put(draft, { ...row, phase: { ...phase, call: { ...call, ...said } } });
  for (const { part } of event.pieces) {
    if (part?.type !== "tool-call" || part.provider === true) continue;
    const name = "m" + call.n;
    const calls = [{ id: name + ".0", tool: part.tool, args: part.args ?? null }];
    const ref = row.request + ":" + name;
    draft.raise({ type: "batch.create", ref, request: row.request, prefix: "", turn: true, calls });
    break;
  }`,
  },
  {
    what: "a core that counts twice what an answer has used",
    first: "looking",
    file: `${turn}answer.ts`,
    find: "  charged(row, charge(usage, conversationOf(draft).prices.get(routeOf(row, call.route).model)));",
    replace: "  charged(charged(row, charge(usage, undefined)), charge(usage, undefined));",
  },
  {
    what: "a core that counts what is told late as often as it is told",
    first: "simulated",
    file: events,
    find: "  forget(draft, one);\n  chargeLate(",
    replace: "  chargeLate(",
  },
  {
    what: "a core that does not count what is told late",
    first: "simulated",
    file: events,
    find: "  chargeLate(draft, event.request,",
    replace: "  if (draft.seq < 0) chargeLate(draft, event.request,",
  },
  {
    what: "a core that pays again for an attempt that was lost",
    first: "looking",
    file: failure,
    find: "  if (!mayContinue(row, call, [])) return begunAnew(next);\n",
    replace: "  if (!mayContinue(row, call, [])) return begunAnew({ ...next, failures: call.failures + 1 });\n",
    caught: { by: "crashes", saying: "happened 2 times, undisturbed" },
  },
  {
    what: "a core that asks again under the key of a failure",
    first: "failing",
    file: failure,
    find: "    failures: call.failures + 1,\n    onRoute",
    replace: "    failures: call.failures,\n    onRoute",
  },
  {
    what: "a core that asks again without a pause",
    first: "failing",
    file: failure,
    find: "return pause === 0 ? askAgain(draft, row, next)",
    replace: "return pause >= 0 ? askAgain(draft, row, next)",
  },
  {
    what: "a core that goes on from the last words alone",
    first: "continuing",
    file: failure,
    find: "    prefix: call.prefix + textOf(",
    replace: "    prefix: textOf(",
  },
  {
    what: "a core that begins an answer anew beside the words that are on record",
    first: "continuing",
    file: failure,
    find: '    mode: "continue",\n    ...unsaid,',
    replace: '    mode: "fresh",\n    ...unsaid,',
  },
  {
    what: "a core in which the control of a failure acts",
    first: "controlling",
    file: `${turn}control.ts`,
    find: '  if (output.outcome.status !== "success") return "not_success";\n',
    replace: "",
  },
  {
    what: "a core whose last control acts",
    first: "controlling",
    file: `${turn}control.ts`,
    find: 'act.type === "go_on" ? flawOfCall(call, control, isPublished) : "not_first";',
    replace: "flawOfCall(call, control, isPublished);",
  },
  {
    what: "a core that ignores limits",
    first: "limiting",
    file: checkpoint,
    find: "  if (row.wrapped) return false;\n",
    replace: "  if (row.wrapped || row.n > 0) return false;\n",
  },
  {
    what: "a core that wraps up again and again",
    first: "limiting",
    file: checkpoint,
    find: "const wrapped = { ...row, wrapped: true };",
    replace: "const wrapped = { ...row, wrapped: false };",
  },
  {
    what: "a core that shows results in another order",
    first: "looking",
    file: batchEnd,
    find: "map(({ ref }) => ref);\n  return decisions",
    replace: "map(({ ref }) => ref).toReversed();\n  return decisions",
  },
  {
    what: "a core whose prompts begin with what was said last",
    first: "simulated",
    file: `${turn}frame.ts`,
    find: "  entries: [...frame.entries, ...entries],",
    replace: "  entries: [...entries, ...frame.entries],",
  },
  {
    what: "a core that shows two calls under one id",
    first: "simulated",
    file: `${turn}plan.ts`,
    find: "for (; this.#used.has(free); i++) free = `${id}_${i}`;",
    replace: "",
  },
  {
    what: "a core that leaves the next turn waiting",
    first: "simulated",
    file: `${turn}conversation.ts`,
    find: '  draft.defer({ type: "turns.next" });\n',
    replace: "",
  },
  {
    what: "a core that takes messages and answers nobody",
    first: "simulated",
    file: checkpoint,
    find: '  for (const one of taken) endWaiting(draft, one, { status: "joined", into: row.request });\n',
    replace: "",
  },
  {
    what: "a core that asks no model again after a crash",
    first: "looking",
    file: events,
    find: '  if (row.phase.type === "asking") lost(draft, row, row.phase.call, isCrash);\n  else if',
    replace: "  if",
  },
  {
    what: "a driver that records twice what a model says",
    first: "looking",
    file: "runtime/src/turn/answer-stream.ts",
    find: "    const pieces = this.#unrecorded;\n    this.#unrecorded = [];",
    replace: "    const pieces = [...this.#unrecorded];",
  },
  {
    what: "a driver that shows a model that goes on nothing of what it has said",
    first: "continuing",
    file: "runtime/src/turn/attempt.ts",
    find: '      ...(prefix === "" ? {} : { prefix }),\n',
    replace: "",
  },
  {
    what: "a core in which a control acts though the turn is cancelled",
    first: "turnCases",
    file: batchEnd,
    find: "  if (row.cancelled) return endTurn(",
    replace: "  if (row.cancelled && draft.seq < 0) return endTurn(",
  },
  {
    what: "a core that loses what is set aside for a sub-agent",
    first: "turnCases",
    file: `${turn}budget.ts`,
    find: "    .reduce((all, { amounts }) => added(all, amounts), {});",
    replace: "    .reduce((all) => all, {});",
  },
  {
    what: "a core that gives all that is left to the first sub-agent",
    first: "turnCases",
    file: `${turn}budget.ts`,
    find: "Math.floor(left / Math.max(1, among))",
    replace: "Math.floor(left / Math.min(1, among))",
  },
  {
    what: "a core that counts tokens of a cache at the full price",
    first: "turnCases",
    file: `${turn}budget.ts`,
    find: "priced(cached, price.cached_input ?? price.input)",
    replace: "priced(cached, price.input)",
  },
  {
    what: "a core that shows reasoning to another provider",
    first: "turnCases",
    file: `${turn}prompt.ts`,
    find: "      return isItsOwn ? part : undefined;",
    replace: "      return part;",
  },
  {
    what: "a core that compacts the question away",
    first: "turnCases",
    file: `${turn}frame.ts`,
    find: "const pinned = newest !== -1 && newest < upto ? newest : undefined;",
    replace: "const pinned = newest < -1 ? newest : undefined;",
  },
  {
    what: "a core that begins who waits in the queue before who was to join",
    first: "turnCases",
    file: `${turn}turn.ts`,
    find: '["next", "join", "queue"] as const',
    replace: '["next", "queue", "join"] as const',
  },
];

/** The thread of `replay.ts`: makes a log and measures a round on request. */
import {
  type Event,
  type State,
  defaultOptions,
  headerLine,
  initial,
  plainTool,
  replay,
  write,
} from "@pawl/sansio-core";
import { newestProtocol } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { parentPort } from "node:worker_threads";
import type { Measurement } from "./figure.ts";

/** Digits like those of a hash: some of them look like numbers with exponents. */
const hashOf = (n: number): string => {
  let state = n;
  const word = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (Math.imul(state ^ (state >>> 15), 0x85eb_ca6b) >>> 0).toString(16).padStart(8, "0");
  };
  return Array.from({ length: 8 }, word).join("");
};
const text = "a result as a tool gives it back, with a few fields and a line of prose to read";
const scope = "session:bench";

const tool = plainTool("work", { durable: true });

const begin: readonly Event[] = [
  { type: "scope.opened", epoch: 1, owner: "bench", protocol: newestProtocol, options: defaultOptions },
  { type: "catalog.published", tools: [tool] },
];

/** One step of a body: its request and its settlement, 250 to 400 bytes of JSON each. */
const pair = (call: string, n: number): readonly Event[] => {
  const of = { call, attempt: 1, run: 1, key: `durable-step:step-${n}` } as const;
  const input = { customer: "c-4711", order: `o-${n}`, amount: 1999, note: "as agreed on the phone" };
  const total = { amount: 1999, currency: "EUR" };
  const value = { id: n, text, ok: true, items: [1, 2, 3], state: "shipped", total, track: `TR-83-4471-${n}` };
  return [
    { type: "effect.requested", ...of, hash: hashOf(n), effect: { kind: "step", recovery: "again", input } },
    { type: "step.settled", ...of, result: { status: "ok", value } },
  ];
};

const steps = 100;

/** A request with one call of this many steps, from its submission to its acknowledged reply. */
const call = (n: number): readonly Event[] => {
  const request = `request-${n}`;
  const ref = `${request}:call-0`;
  const result = { type: "done", output: { outcome: { status: "success", payload: text } } } as const;
  return [
    { type: "request.submitted", request, hash: hashOf(n), calls: [{ id: "call-0", tool: "work", args: { n } }] },
    ...Array.from({ length: steps }, (_, i) => pair(ref, i)).flat(),
    { type: "call.settled", call: ref, attempt: 1, run: 1, result, duration_ms: 12 },
    { type: "reply.acked", request },
  ];
};

const logOf = (events: readonly Event[]): readonly string[] => {
  const lines = [headerLine({ format: 1, protocol: newestProtocol, scope, epoch: 1, writer: "bench", base: 0 })];
  let state: State = initial(scope);
  for (const event of events) {
    const written = write(state, { seq: state.seq + 1, at: 1_763_459_854_000 + state.seq, event });
    if (E.isLeft(written)) throw new Error(`${event.type}: ${written.left.message}`);
    state = written.right.state;
    lines.push(written.right.line);
  }
  return lines;
};

const lines = logOf([...begin, ...Array.from({ length: 100 }, (_, n) => call(n)).flat()]);

const slice = 200;
const slices = Array.from({ length: Math.ceil(lines.length / slice) }, (_, i) => {
  const part = lines.slice(i * slice, (i + 1) * slice);
  return { part, text: part.join("") };
});

/** Runs both in alternating slices of the lines, so that other load affects both alike. */
const round = (): Measurement => {
  let floor = 0;
  const inTurns = function* (): Generator<string> {
    for (const { part, text: all } of slices) {
      const before = performance.now();
      for (const line of part) JSON.parse(line);
      floor += performance.now() - before;
      yield all;
    }
  };
  const before = performance.now();
  const { fault } = replay(inTurns());
  const value = performance.now() - before - floor;
  if (fault !== undefined) throw new Error(fault.message);
  return { floor: (floor * 1000) / lines.length, value: (value * 1000) / lines.length };
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.on("message", () => parentPort?.postMessage(round()));

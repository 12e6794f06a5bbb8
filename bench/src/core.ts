/** Costs of a step of the core, relative to a JSON round trip of its event. */
import {
  type Event,
  type State,
  callRef,
  defaultOptions,
  digest,
  initial,
  nextDeadline,
  plainTool,
  snapshot,
  step,
} from "@pawl/sansio-core";
import { newestProtocol } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as E from "fp-ts/lib/Either.js";
import { type Figure, type Measurement } from "./figure.ts";

const hash = "3b1f".repeat(16);

const tell = (state: State, at: number, event: Event): State => {
  const result = step(state, { seq: state.seq + 1, at, event });
  if (E.isLeft(result)) throw new Error(`${event.type}: ${result.left.message}`);
  digest(result.right);
  return result.right.state;
};

const tool = plainTool("work", { durable: true });

const opened = (): State => {
  const state = tell(initial("session:bench"), 1, {
    type: "scope.opened",
    epoch: 1,
    owner: "bench",
    protocol: newestProtocol,
    options: defaultOptions,
  });
  return tell(state, 1, { type: "catalog.published", tools: [tool] });
};

/** Submits a request, and lets time pass until all of its calls run: a large one is begun in shares. */
const submit = (state: State, request: string, calls: number, argsOf: (n: number) => Json = (n) => ({ n })): State => {
  let next = tell(state, state.at, {
    type: "request.submitted",
    request,
    hash,
    calls: Array.from({ length: calls }, (_, i) => ({ id: `call-${i}`, tool: "work", args: argsOf(i) })),
  });
  for (let due = nextDeadline(next); due !== undefined; due = nextDeadline(next))
    next = tell(next, due.at, { type: "clock.ticked" });
  return next;
};

/** Adds a sleeping body, so that its call has a deadline. */
const asleep = (state: State, call: string): State =>
  tell(state, state.at, {
    type: "effect.requested",
    call,
    attempt: 1,
    run: 1,
    key: "sleep:0",
    hash,
    effect: { kind: "sleep", ms: 86_400_000 + call.length },
  });

const text = "a result as a tool gives it back, with a few fields and a line of prose to read";

/** One step of a body: its request and its settlement, 250 to 400 bytes of JSON each. */
const pair = (call: string, n: number): readonly [Event, Event] => {
  const of = { call, attempt: 1, run: 1, key: `durable-step:step-${n}` } as const;
  const input = { customer: "c-4711", order: `o-${n}`, amount: 1999, note: "as agreed on the phone" };
  return [
    { type: "effect.requested", ...of, hash, effect: { kind: "step", recovery: "again", input } },
    {
      type: "step.settled",
      ...of,
      result: { status: "ok", value: { id: n, text, ok: true, state: "shipped", items: [1, 2, 3] } },
    },
  ];
};

/** Events of several calls in turn, with a number of steps each. */
const traffic = (calls: readonly string[], steps: number): readonly Event[] =>
  Array.from({ length: steps }, (_, n) => calls.flatMap((call) => pair(call, n))).flat();

const slice = 200;
const passes = 5;

/** Runs both over the events in alternating slices, so that other load affects both alike. */
const pass = (start: State, events: readonly Event[]): Measurement => {
  let state = start;
  let floor = 0;
  let value = 0;
  for (let i = 0; i < events.length; i += slice) {
    const part = events.slice(i, i + slice);
    const before = performance.now();
    for (const event of part) JSON.parse(JSON.stringify(event));
    const between = performance.now();
    for (const event of part) state = tell(state, state.at, event);
    floor += between - before;
    value += performance.now() - between;
  }
  return { floor: (floor * 1000) / events.length, value: (value * 1000) / events.length };
};

/** Returns the least disturbed of several passes. */
const leastOf = (run: () => Measurement): Measurement => {
  const all = Array.from({ length: passes }, run);
  return { floor: Math.min(...all.map((m) => m.floor)), value: Math.min(...all.map((m) => m.value)) };
};
const relativeToJson = (start: () => State, events: readonly Event[]) => (): Measurement => {
  const state = start();
  return leastOf(() => pass(state, events));
};

const refs = (request: string, calls: number): readonly string[] =>
  Array.from({ length: calls }, (_, i) => `${request}:call-${i}`);

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined;
  return () => (made ??= { value: make() }).value;
};

const few = 10;
const many = 10_000;

const small = submit(opened(), "hot", few);
/** Built on demand: live objects in the heap slow down everything else. */
const crowd = once(() => refs("crowd", many).reduce(asleep, submit(small, "crowd", many)));

const batchUs = (calls: number, rounds: number): number => {
  const state = opened();
  const start = performance.now();
  for (let i = 0; i < rounds; i++) {
    let next = submit(state, "batch", calls);
    for (const call of refs("batch", calls)) {
      const result = { type: "done", output: { outcome: { status: "success", payload: text } } } as const;
      next = tell(next, next.at, { type: "call.settled", call, attempt: 1, run: 1, result, duration_ms: 1 });
    }
  }
  return ((performance.now() - start) * 1000) / (calls * rounds);
};

const shortArgs = (): Json => ({ order: "o".repeat(87) });

/** Calls that wait under a deadline, with arguments of 100 bytes each. */
const parked = (calls: number): State => {
  let state = submit(opened(), "parked", calls, shortArgs);
  for (let i = 0; i < calls; i++) {
    const pending = {
      deadline: { secs: 86_400 + i, nanos: 0 },
      on_timeout: "error_as_result",
      on_cancel: "cancel_external_work",
    } as const;
    const result = { type: "pending", key: i.toString(16).padStart(64, "0"), pending } as const;
    const call = callRef("parked", `call-${i}`);
    state = tell(state, state.at, { type: "call.settled", call, attempt: 1, run: 1, result, duration_ms: 1 });
  }
  return state;
};

/** Calls whose bodies have left memory in their second life, and wait for an event of that life. */
const suspended = (calls: number): State => {
  let state = submit(opened(), "suspended", calls, shortArgs);
  for (let i = 0; i < calls; i++) {
    const call = callRef("suspended", `call-${i}`);
    const [first, second] = [{ call, attempt: 1, run: 1 } as const, { call, attempt: 1, run: 2 } as const];
    const wait = i.toString(16).padStart(64, "0");
    const effect = { kind: "wait", wait, own: "life" } as const;
    const steps: readonly Event[] = [
      { type: "call.continued", ...first, args: shortArgs(), args_hash: hash, signals: [] },
      { type: "call.resumed", ...second, cause: "continued", owner: "bench" },
      { type: "effect.requested", ...second, key: `await-event:${wait}`, hash, effect },
      { type: "call.suspended", ...second },
    ];
    for (const event of steps) state = tell(state, state.at, event);
  }
  return state;
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

const heapPerCall = (make: (calls: number) => State): number => {
  const before = heap();
  const state = make(many);
  const grown = heap() - before;
  return grown / state.calls.size;
};

const snapshotSize = (calls: number): number => JSON.stringify(snapshot(parked(calls))).length;
const snapshotPerCall = (): number => (snapshotSize(2000) - snapshotSize(1000)) / 1000;

export const coreFigures: readonly Figure[] = [
  {
    name: "core.step",
    what: "a durable-step event among 10 live calls, relative to a JSON round trip of it",
    unit: "us",
    bound: 0.8,
    round: relativeToJson(() => small, traffic(refs("hot", few), 500)),
  },
  {
    name: "core.flat",
    what: "the same while 10,000 calls are live, each with a deadline",
    unit: "us",
    bound: 1,
    round: relativeToJson(crowd, traffic(refs("hot", few), 500)),
  },
  {
    name: "core.hot",
    what: "the same with all 10,000 calls hot",
    unit: "us",
    bound: 1.5,
    round: relativeToJson(crowd, traffic(refs("crowd", many), 1)),
  },
  {
    name: "core.batch",
    what: "a call in a batch of 10,000, relative to one in a batch of 100",
    unit: "us",
    bound: 2,
    round: () => leastOf(() => ({ floor: batchUs(100, 100), value: batchUs(many, 1) })),
  },
  {
    name: "core.parked_heap",
    what: "a parked call with 100 bytes of arguments, in the state",
    unit: "bytes",
    bound: 2000,
    round: () => ({ floor: 1, value: heapPerCall(parked) }),
  },
  {
    name: "core.suspended_heap",
    what: "a suspended body in its second life, with a wait of its own",
    unit: "bytes",
    bound: 2000,
    round: () => ({ floor: 1, value: heapPerCall(suspended) }),
  },
  {
    name: "core.parked_snapshot",
    what: "the same in a snapshot",
    unit: "bytes",
    bound: 600,
    round: () => ({ floor: 1, value: snapshotPerCall() }),
  },
];

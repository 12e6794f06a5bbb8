/**
 * Feeds spoilt events and spoilt logs to the core: nothing may throw, and nothing may take long.
 *
 *   node packages/sansio-core/test/log/fuzz.ts [RUNS] [--seed N]
 *
 * A run is a few events, most of them spoilt, or a log that is. `1 --seed N` repeats the run that a message names.
 */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Json, noLimits, parse, read, stringify, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EventCodec, hasDigest, initial, outstanding, step } from "../../src/machine.ts";
import { commandsLine, describeFault, producedBy } from "../../src/log/compare.ts";
import { lineOf, recordedOf } from "../../src/log/format.ts";
import { replay } from "../../src/log/replay.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { Dice } from "../arbitrary/dice.ts";
import { wild } from "../arbitrary/wild.ts";
import { mutateJson, mutateLines, mutateText } from "./mutate.ts";

interface Sample {
  readonly lines: readonly string[];
  /** Before each of its events, and after the last. */
  readonly states: readonly State[];
  readonly events: readonly Json[];
}

const right = <A>(either: E.Either<unknown, A>): A => {
  if (E.isRight(either)) return either.right;
  throw new Error(JSON.stringify(either.left));
};
const encoded = (event: unknown): Json => right(parse(stringifyRecord(EventCodec.encode(event as never)), noLimits));

const sampleOf = (text: string): Sample => {
  const states: State[] = [];
  const events: Json[] = [];
  const { fault } = replay([text], {
    onStep: ({ event }, { state }) => {
      if (states.length === 0) states.push(initial(state.scope.id));
      states.push(state);
      events.push(encoded(event));
    },
  });
  if (fault !== undefined) throw new Error(describeFault(fault));
  return { lines: text.split(/(?<=\n)/), states, events };
};

const golden = resolve(import.meta.dirname, "../golden");
const loadSamples = (): readonly Sample[] =>
  globSync("*.jsonl", { cwd: golden, exclude: ["*.cmds.jsonl"] })
    .toSorted()
    .map((file) => sampleOf(readFileSync(resolve(golden, file), "utf8")));

export type Outcome = "undecodable" | "rejected" | "accepted" | "torn" | "whole" | "faulty";

/** An event that was accepted can be written, read again, and known by its digest. */
const look = (state: State, at: number, json: Json): State | Outcome => {
  const text = stringify(json);
  const event = read(EventCodec, right(parse(text, noLimits)));
  if (E.isLeft(event)) return "undecodable";
  const envelope = { seq: state.seq + 1, at, event: event.right };
  const result = step(state, envelope);
  if (E.isLeft(result)) return "rejected";
  const back = right(recordedOf(right(parse(lineOf(envelope, result.right), noLimits))));
  if (!hasDigest(right(step(state, back)), back.cmds)) throw new Error("read back, it does something else");
  commandsLine(envelope.seq, producedBy(result.right));
  outstanding(result.right.state);
  return result.right.state;
};

const eventFor = (dice: Dice, samples: readonly Sample[], state: State, next: Json | undefined): Json => {
  if (next !== undefined && dice.isUnder(50)) return next;
  return dice.isUnder(60) ? encoded(wild(dice, state)) : dice.pick(dice.pick(samples).events);
};

/** A few events from somewhere in a history on, most of them spoilt. */
const fuzzEvents = (dice: Dice, samples: readonly Sample[]): readonly Outcome[] => {
  const { states, events } = dice.pick(samples);
  const from = dice.below(states.length);
  let state = states[from] as State;
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 4; i++) {
    let json = eventFor(dice, samples, state, events[from + i]);
    for (let n = dice.below(3); n > 0; n--) json = mutateJson(dice, json);
    const after = look(state, state.at + dice.pick([0, 1, 50, 10 ** 9]), json);
    outcomes.push(typeof after === "string" ? after : "accepted");
    if (typeof after !== "string") state = after;
  }
  return outcomes;
};

/** A log with something wrong, read in a few pieces. */
const fuzzLog = (dice: Dice, samples: readonly Sample[]): readonly Outcome[] => {
  const { lines } = dice.pick(samples);
  let text = (dice.isUnder(20) ? mutateLines(dice, lines) : lines).join("");
  for (let n = 1 + dice.below(2); n > 0; n--) text = mutateText(dice, text);
  const cut = dice.below(text.length + 1);
  const { fault, torn } = replay([text.slice(0, cut), text.slice(cut)], dice.isUnder(10) ? { log: lines } : {});
  if (fault === undefined) return [torn === undefined ? "whole" : "torn"];
  describeFault(fault);
  return ["faulty"];
};

export interface Fuzzed {
  readonly counts: { readonly [O in Outcome]: number };
  readonly slowestMs: number;
}

/** Tries so many; the first that throws is thrown on, with the seed that repeats it. */
export const fuzz = (runs: number, seed: number): Fuzzed => {
  const samples = loadSamples();
  const counts = { undecodable: 0, rejected: 0, accepted: 0, torn: 0, whole: 0, faulty: 0 };
  let slowestMs = 0;
  for (let run = 0; run < runs; run++) {
    const dice = new Dice(seed + run);
    const start = performance.now();
    const fuzzOne = dice.isUnder(50) ? fuzzEvents : fuzzLog;
    try {
      for (const outcome of fuzzOne(dice, samples)) counts[outcome] += 1;
    } catch (cause) {
      throw new Error(`seed ${seed + run}: ${String(cause)}`, { cause });
    }
    slowestMs = Math.max(slowestMs, performance.now() - start);
  }
  return { counts, slowestMs };
};

if (import.meta.main) {
  const { positionals, values } = parseArgs({ options: { seed: { type: "string" } }, allowPositionals: true });
  const runs = Number(positionals[0] ?? 1_000_000);
  const start = performance.now();
  const { counts, slowestMs } = fuzz(runs, Number(values.seed ?? 1));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${runs} runs in ${seconds} s, the slowest ${slowestMs.toFixed(0)} ms; none threw`);
  console.log(counts);
}

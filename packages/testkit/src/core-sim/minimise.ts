/** Shrinks a failing run: fewer events, fewer kinds of faults, and the smallest failing log of its scope. */
import { type Envelope, type State, checkAll, checkChange, initial, step } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { type CoreSimFault, type CoreSimOptions, type CoreSimRun, coreSimFaults, runCoreSim } from "./simulator.ts";
import type { CoreSimViolation } from "./violation.ts";

export interface SmallCoreSim {
  readonly seed: number;
  readonly options: CoreSimOptions;
  readonly violation: CoreSimViolation;
  /** The failing scope, and its log. */
  readonly scope: string;
  readonly log: readonly Envelope[];
}

type Failed = CoreSimRun & { readonly violation: CoreSimViolation };

const fails = (seed: number, options: CoreSimOptions, harm: string): Failed | undefined => {
  const run = runCoreSim(seed, options);
  const { violation } = run;
  return violation?.harm === harm ? { ...run, violation } : undefined;
};

/** Halves the number of events as long as the run still fails. */
const withFewerEvents = (seed: number, harm: string, options: CoreSimOptions): CoreSimOptions => {
  let least = options;
  for (const events of [160, 80, 40, 20, 10]) {
    const fewer = { ...options, events };
    if (fails(seed, fewer, harm) === undefined) return least;
    least = fewer;
  }
  return least;
};

const withFewerFaults = (seed: number, harm: string, options: CoreSimOptions): CoreSimOptions => {
  let without: readonly CoreSimFault[] = options.without ?? [];
  for (const fault of coreSimFaults) {
    const fewer = [...without, fault];
    if (!without.includes(fault) && fails(seed, { ...options, without: fewer }, harm) !== undefined) without = fewer;
  }
  return without.length === 0 ? options : { ...options, without };
};

/** Returns the invariant's name, or the start of the error. It must stay the same while shrinking. */
const kindOf = (message: string): string => /\b[A-Z]\d+(?=: )/.exec(message)?.[0] ?? message.slice(0, 60);

const brokenBy = (
  before: State,
  envelope: Envelope,
): { readonly state: State; readonly broken: string | undefined } => {
  try {
    const result = step(before, { ...envelope, seq: before.seq + 1, at: Math.max(before.at, envelope.at) });
    if (E.isLeft(result)) return { state: before, broken: undefined };
    const { state } = result.right;
    return { state, broken: checkChange(before, state) ?? checkAll(state) };
  } catch (error) {
    return { state: before, broken: error instanceof Error ? error.message : `${error}` };
  }
};

/** Returns the failure of a log and the event that shows it. */
const wrongWith = (
  scope: string,
  log: readonly Envelope[],
): { readonly kind: string; readonly upTo: number } | undefined => {
  let state = initial(scope);
  for (const [i, envelope] of log.entries()) {
    const { state: next, broken } = brokenBy(state, envelope);
    if (broken !== undefined) return { kind: kindOf(broken), upTo: i + 1 };
    state = next;
  }
  return undefined;
};

/** Removes parts of a log, in ever smaller sizes, as long as the rest fails in the same way (delta debugging). */
export const smallestLog = (scope: string, whole: readonly Envelope[]): readonly Envelope[] => {
  const wrong = wrongWith(scope, whole);
  if (wrong === undefined) return whole;
  let log = whole.slice(0, wrong.upTo);
  for (let size = log.length >> 1; size >= 1; size >>= 1) {
    for (let from = log.length - size; from >= 0; from -= size) {
      const rest = [...log.slice(0, from), ...log.slice(from + size)];
      if (wrongWith(scope, rest)?.kind === wrong.kind) log = rest;
    }
  }
  return log.map((envelope, i) => ({ ...envelope, seq: i + 1 }));
};

/** Returns the scope that the violation names, or the first whose log fails by itself. */
const scopeIn = ({ logs, violation }: Failed): string => {
  const scopes = [...logs.keys()];
  const named = scopes.find((scope) => violation.message.startsWith(scope));
  const wrong = (): string | undefined => scopes.find((scope) => wrongWith(scope, logs.get(scope) ?? []) !== undefined);
  return named ?? wrong() ?? (scopes[0] as string);
};

/** Shrinks a failed run; `given` are the options that it failed under. */
export const minimiseCoreSim = (run: Failed, given: CoreSimOptions = {}): SmallCoreSim => {
  const { seed } = run;
  const { harm } = run.violation;
  const options = withFewerFaults(seed, harm, withFewerEvents(seed, harm, given));
  const small = fails(seed, options, harm) ?? run;
  const scope = scopeIn(small);
  const log = smallestLog(scope, small.logs.get(scope) ?? []);
  return { seed, options, violation: small.violation, scope, log };
};

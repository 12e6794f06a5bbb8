/**
 * Releases of the code that runs the tools of a simulation: which versions there are, which programs one of them cannot
 * go on with, and what `ctx.patched` answers.
 */
import type { EventOf } from "@pawl/sansio-core";
import { type Versions, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import type { Program } from "./program.ts";
import type { Dice } from "./random.ts";
import type { SimScope } from "./scope.ts";

type State = SimScope["state"];

const hasVersions = ({ scope }: State): boolean => hasRule(scope.protocol, "parked_divergence");

/** The bad release: programs that change with a release ask for something else in it. */
const bad = "v2";

const releases: readonly Versions[] = [
  { "*": "v1" },
  { "*": "v1" },
  { "*": bad },
  { "*": "v1", "tool:t0": bad },
  { "*": bad, "tool:t1": null },
];

/** Returns the versions that a driver says are there, or none where it does not know or the scope has no versions. */
export const anyVersions = (dice: Dice, state: State): { readonly versions?: Versions } =>
  hasVersions(state) && dice.isUnder(90) ? { versions: dice.pick(releases) } : {};

/** Returns the version that a run is in, by the row of its call. */
export const versionOf = ({ calls }: State, call: string): string | undefined => {
  const row = calls.at(call);
  return row === undefined ? undefined : bodyOf(row)?.version;
};

/** Tells whether a program asks for something else when it runs again: under a bad release, or where nobody knows versions. */
export const isOff = (
  { isFickle }: Program,
  { attempt, run }: { readonly attempt: number; readonly run: number },
  version: string | undefined,
): boolean => isFickle && (run > 1 || attempt > 1) && (version === undefined || version === bad);

/** A version that nothing has failed under. */
const good = "v3";

/** Brings a good version of a tool whose call is parked, since others have failed. */
export const rolledBack = ({ state }: SimScope): EventOf<"executors.available"> | undefined => {
  for (const row of state.calls.rows()) {
    if (row.phase !== "unknown" || row.cause === "owner_lost" || !hasVersions(state)) continue;
    const { failed, manifest } = row.body;
    if (failed.length === 0 || failed.some(({ version }) => version === good)) continue;
    return { type: "executors.available", tools: [], versions: { [manifest.id]: good } };
  }
  return undefined;
};

const names = ["faster", "safer"] as const;

/** Returns what a body was told by `ctx.patched` since its last event, now and then. */
export const anyPatches = (dice: Dice, { scope }: State): { readonly patched?: { readonly [name: string]: boolean } } =>
  hasRule(scope.protocol, "patches") && dice.isUnder(8) ? { patched: { [dice.pick(names)]: dice.isUnder(50) } } : {};

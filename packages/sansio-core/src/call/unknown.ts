/**
 * Calls whose outcome is unknown, and what ends that: the word of a resolver or of a person, the end of their time, or
 * another version of their tool, where that may heal them.
 */
import { type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { park } from "./approval.ts";
import { ending, internal } from "./finish.ts";
import { isHealable, parked, resuming } from "./launch.ts";
import type { BodyState, CallIn, CallRow, FailedVersion, ParkedCause, UnknownCause } from "./model.ts";
import type { Resolved } from "./event.ts";
import { bodyOf, byBirth, hasFailed, inPhase, isRejection, move } from "./row.ts";
import type { Draft } from "../kernel/draft.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { type Rejection, firstBroken } from "../kernel/error.ts";
import { hasRule, missingRule } from "../kernel/protocol.ts";
import type { EventOf, State } from "../kernel/vocabulary.ts";
import type { StateCheck } from "../concern.ts";
import { versionIn } from "../scope/version.ts";

const reasons: { readonly [C in UnknownCause]: string } = {
  owner_lost: "its owner was lost while it ran",
  crash_loop: "its owner was lost again and again while it ran",
  diverged: "its program no longer asks what its log records",
};

const unknownOutcome = (tool: string, why: string): ToolCallOutput =>
  failureOutput(runtimeFailure("external", "tool_outcome_unknown", `the outcome of \`${tool}\` is unknown: ${why}`));

export const durationOf = (draft: Draft, body: BodyState): number => draft.at - body.startedAt;

/** Asks the host's resolver; without one the call ends. */
export const outcomeUnknown = (draft: Draft, row: CallRow, body: BodyState, cause: UnknownCause): CallRow => {
  if (!draft.options.resolver || cause === "crash_loop") {
    return ending(draft, row, unknownOutcome(row.tool, reasons[cause]), durationOf(draft, body));
  }
  draft.emit({ type: "outcome.resolve", call: row.call.ref, cause, tool: row.tool });
  const { call, tool, args, observed } = row;
  return { call, tool, args, observed, phase: "unknown", body, cause, due: undefined };
};

/**
 * Gives up on a version of the tool for this attempt: another one goes on with the call where there is one, and else the
 * call is parked.
 */
export const withoutVersion = (
  draft: Draft,
  row: CallRow,
  body: BodyState,
  { cause, version = body.version }: { readonly cause: ParkedCause; readonly version?: string | undefined },
): CallRow => {
  const failed: FailedVersion = { version: version ?? "", cause };
  const after = { ...body, failed: [...body.failed, failed] };
  return isHealable(draft, after)
    ? resuming(draft, row, { body: after, cause: "other_version" })
    : parked(draft, row, after);
};

/**
 * Begins the next attempt with nothing remembered but the steps that may run only once; no retry policy counts it.
 */
const released = (body: BodyState): BodyState => ({
  ...body,
  attempt: body.attempt + 1,
  run: 0,
  life: { ...body.life, released: (body.life.released ?? 0) + 1 },
  open: body.open.filter(({ recovery }) => recovery === "once"),
  settled: PersistentMap.of([...body.settled].filter(([, { once }]) => once)),
  failed: [],
});

/** Starts a body from its top. A run-again of a call that needs approval asks again. */
const again = (draft: Draft, row: CallIn<"running" | "unknown">, body: BodyState): CallRow => {
  const { manifest, payload, argsHash } = body;
  return row.phase === "unknown" && manifest.policy === "requires_approval"
    ? park(draft, { ...row, body: { ...body, run: Math.max(1, body.run) } }, { argsHash, payload })
    : resuming(draft, row, { body, cause: "run_again" });
};

const resolve = (draft: Draft, row: CallIn<"unknown">, resolved: Resolved): CallRow => {
  const { body } = row;
  switch (resolved.type) {
    case "verified":
      return ending(draft, row, resolved.output, durationOf(draft, body));
    case "give_up":
      return ending(draft, row, unknownOutcome(row.tool, reasons[row.cause]), durationOf(draft, body));
    case "run_again":
      return again(draft, row, { ...body, failed: [] });
    case "release":
      return again(draft, row, released(body));
  }
};

/** Takes the word of a resolver or of a person on an unknown outcome. */
export const onResolved = (draft: Draft, event: EventOf<"outcome.resolved">): Rejection | undefined => {
  const { resolved } = event;
  const isNew = resolved.type === "release";
  const missing = isNew ? missingRule(draft.scope.protocol, "parked_divergence", "`release`") : undefined;
  const row = inPhase(draft, event.call, "unknown");
  if (missing !== undefined || isRejection(row)) return missing ?? (row as Rejection);
  move(draft, row, resolve(draft, row, resolved));
  return undefined;
};

const detailOf = ({ position, expected, found }: EventOf<"call.diverged">): string =>
  `replay diverged at request ${position}: expected ${expected}, found ${found}`;

/** Parks a call whose program no longer asks what its log records. */
const parkDiverged = (draft: Draft, row: CallIn<"running">, version: string | undefined): CallRow =>
  hasRule(draft.scope.protocol, "parked_divergence")
    ? withoutVersion(draft, row, row.body, { cause: "diverged", version })
    : outcomeUnknown(draft, row, row.body, "diverged");

/** Returns whether a body diverged from what was on record before its run; else it would do so again and again. */
const hasPast = ({ attempt, run, settled }: BodyState): boolean =>
  run > 1 || settled.values().some((effect) => effect.attempt < attempt && !effect.once);

/** Starts a diverged body from its top, as its tool says. */
const releaseDiverged = (draft: Draft, row: CallIn<"running">, version: string | undefined): CallRow => {
  const { body } = row;
  if (!hasRule(draft.scope.protocol, "parked_divergence"))
    return again(draft, row, { ...body, open: [], settled: PersistentMap.empty() });
  return hasPast(body) ? again(draft, row, released(body)) : parkDiverged(draft, row, version);
};

/** A body that no longer asks what its log records, by its tool's policy. */
export const diverge = (draft: Draft, row: CallIn<"running">, event: EventOf<"call.diverged">): CallRow => {
  const { body } = row;
  switch (body.manifest.divergence) {
    case "park":
      return parkDiverged(draft, row, event.version);
    case "release":
      return releaseDiverged(draft, row, event.version);
    case "fail":
      return ending(draft, row, internal("replay_diverged", detailOf(event)), durationOf(draft, body));
  }
};

/** The time in which another version could have healed it is over. */
export const unhealed = (draft: Draft, row: CallIn<"unknown">): CallRow => {
  const versions = row.body.failed.map(({ version }) => `\`${version}\``).join(", ");
  const why = `the code of \`${row.tool}\` diverged from the record of this call (${versions}), and nothing healed it`;
  const message = `${why} within ${draft.options.divergence_ms} ms (\`divergence_ms\`)`;
  return ending(draft, row, internal("replay_diverged", message), durationOf(draft, row.body));
};

/** Returns what is broken about a version that runs a call, or that a call is parked beside. */
const problemOfVersion = ({ scope }: State, row: CallRow): string | undefined => {
  const body = bodyOf(row);
  if (body === undefined || body.failed.length === 0 || scope.status.type !== "open") return undefined;
  if (row.phase === "running" && hasFailed(body, body.version)) return `it runs in \`${body.version}\` again`;
  const here = versionIn(scope.versions, body.manifest.id);
  const isParked = row.phase === "unknown" && row.cause !== "owner_lost";
  return isParked && here !== undefined && !hasFailed(body, here) ? `\`${here}\` is there` : undefined;
};

export const checkC12: StateCheck = (state) =>
  firstBroken(
    state.calls.rows(),
    ({ call, phase }) => `call \`${call.ref}\` (${phase}): C12`,
    (row) => problemOfVersion(state, row),
  );

/** Goes on with the parked calls for which there is a version now that they were not tried with. */
export const onVersionsChanged = (draft: Draft): void => {
  const parkedCalls = draft
    .calls()
    .filter((row): row is CallIn<"unknown"> => row.phase === "unknown" && row.cause !== "owner_lost")
    .toSorted(byBirth);
  for (const row of parkedCalls) {
    if (isHealable(draft, row.body)) move(draft, row, resuming(draft, row, { body: row.body, cause: "other_version" }));
  }
};

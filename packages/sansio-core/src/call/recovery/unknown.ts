/**
 * Ends the unknown outcome of a call: by a resolver's or a person's word, the end of its time, or another version of the tool.
 * A step whose outcome is unknown is answered in `effect/ask.ts`.
 */
import { park } from "../approval.ts";
import { countsCrashes, oneMore, resumeCounted } from "./owner-lost.ts";
import type { SettledEffect } from "../effect/effect.ts";
import { ending, internal } from "../finish.ts";
import { resuming } from "../launch.ts";
import type { BodyState, CallIn, CallRow } from "../model.ts";
import { durationOf, endUnknown, healed, isHealable, outcomeUnknown, withoutVersion } from "./parked.ts";
import { bodyOf, byBirth, hasFailed, inPhase, isRejection, move } from "../row.ts";
import type { StateCheck } from "../../concern.ts";
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, firstBroken } from "../../kernel/error.ts";
import { PersistentMap } from "../../kernel/persistent-map.ts";
import { hasRule, missingRule } from "../../kernel/protocol.ts";
import type { EventOf, State } from "../../kernel/vocabulary.ts";
import { versionIn } from "../../scope/model.ts";

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

/**
 * Runs a body of unknown outcome again. A person's word begins the count of crashes anew, a resolver's adds to it. A call
 * that needs approval asks again.
 */
const again = (draft: Draft, row: CallIn<"unknown">, body: BodyState, isPersons: boolean): CallRow => {
  const { manifest, payload, argsHash } = body;
  if (manifest.policy === "requires_approval")
    return park(draft, { ...row, body: { ...body, run: Math.max(1, body.run) } }, { argsHash, payload });
  if (countsCrashes(draft) && !isPersons) return resumeCounted(draft, row, oneMore(body), "run_again");
  const resumes = countsCrashes(draft) ? 0 : body.resumes;
  return resuming(draft, row, { body: { ...body, resumes }, cause: "run_again" });
};

const resolve = (draft: Draft, row: CallIn<"unknown">, { resolved, by }: EventOf<"outcome.resolved">): CallRow => {
  const { body, cause } = row;
  switch (resolved.type) {
    case "verified":
      return ending(draft, row, resolved.output, durationOf(draft, body));
    case "give_up":
      return endUnknown(draft, row, body, cause);
    case "run_again":
      return again(draft, row, { ...body, failed: [] }, by !== undefined);
    case "release":
      return again(draft, row, released(body), by !== undefined);
  }
};

/** Takes the word of a resolver or of a person on an unknown outcome. */
export const onResolved = (draft: Draft, event: EventOf<"outcome.resolved">): Rejection | undefined => {
  const { resolved } = event;
  const isNew = resolved.type === "release";
  const missing = isNew ? missingRule(draft.scope.protocol, "parked_divergence", "`release`") : undefined;
  const row = inPhase(draft, event.call, "unknown");
  if (missing !== undefined || isRejection(row)) return missing ?? (row as Rejection);
  move(draft, row, resolve(draft, row, event));
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
  const isNew = hasRule(draft.scope.protocol, "parked_divergence");
  if (isNew && !hasPast(body)) return parkDiverged(draft, row, version);
  const next = isNew ? released(body) : { ...body, open: [], settled: PersistentMap.empty<string, SettledEffect>() };
  return resuming(draft, row, { body: next, cause: "run_again" });
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

export const checkC13: StateCheck = (state) =>
  firstBroken(
    state.calls.rows(),
    ({ call, phase }) => `call \`${call.ref}\` (${phase}): C13`,
    (row) => problemOfVersion(state, row),
  );

/** Goes on with the parked calls for which there is a version now that they were not tried with. */
export const onVersionsChanged = (draft: Draft): void => {
  const parkedCalls = draft
    .calls()
    .filter((row): row is CallIn<"unknown"> => row.phase === "unknown" && row.cause !== "owner_lost")
    .toSorted(byBirth);
  for (const row of parkedCalls) {
    if (isHealable(draft, row.body)) move(draft, row, healed(draft, row, row.body));
  }
};

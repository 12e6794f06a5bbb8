/**
 * Divergence: a run that does not do again what the log has of it, because its tool is not deterministic between its
 * requests, or has changed. There are four ways to diverge:
 *
 *   another request   the body asks for something else under a key that is on record
 *   too early         it asks for something new while a recorded request has not been made again
 *   ended             it ends without a recorded request
 *   quiet             it makes no request for `holdMs` while the log expects one
 *
 * The core finds the first by the record of the call (`ask` in its call/effect/ask.ts), the run the others by its `ReplayOrder`.
 * `call.diverged` says at which request, what was expected and what was found, and the run is over. From protocol 2 on it
 * also says in which version of the code, and which fields of the input differ.
 */
import type { Ask, Event } from "@pawl/sansio-core";
import {
  type BodyState,
  type EffectSpec,
  type NamedRequest,
  type RequestDifference,
  hasRule,
} from "@pawl/sansio-core/driver";
import { type Json, isObject, stringify } from "@pawl/tool-value";
import type { CodeVersions } from "../tool/version.ts";
import type { Request, RunId } from "./record.ts";
import { type RecordedRunPort, type ReplayOrder, shownEventAt } from "./replay.ts";

export interface Divergence extends Pick<Extract<Ask, { readonly type: "diverged" }>, "expected" | "found"> {
  /** The key of what the log has there. */
  readonly key?: string | undefined;
  /** The request that the body made, if it made one. */
  readonly request?: Request;
  /** The one that it made before in this run, under the same key. */
  readonly before?: Request;
  /** The step that was under way when the request of the log was made. */
  readonly actedOn?: string | undefined;
}

const nameOf = ({ key, hash, effect }: Request): string => `${effect.kind} \`${key}\` with input ${hash}`;

/** Compares a request with the one that the run made under its key before; `ask` compares it with the record. */
export const differsFrom = (before: Request | undefined, request: Request, ask: () => Ask): Divergence | undefined => {
  if (before === undefined) {
    const verdict = ask();
    return verdict.type === "diverged" ? { ...verdict, key: request.key, request } : undefined;
  }
  const isSame = before.hash === request.hash && before.effect.kind === request.effect.kind;
  return isSame ? undefined : { expected: nameOf(before), found: nameOf(request), key: request.key, request, before };
};

const recorded = (missing: string | undefined): string => `the recorded \`${missing}\``;

export const askedBefore = (missing: string | undefined, request: Request): Divergence => ({
  expected: recorded(missing),
  found: `${request.effect.kind} \`${request.key}\``,
  key: missing,
  request,
});

export const endedBefore = (missing: string | undefined): Divergence => ({
  expected: recorded(missing),
  found: "its end",
  key: missing,
});

/** A step that was under way when the missing request was made may have said what the body acted on. */
export const quiet = (
  order: Pick<ReplayOrder, "missing" | "openAt">,
  isStep: (key: string) => boolean,
): Divergence => ({
  expected: "the request that its log records next",
  found: "no request at all",
  key: order.missing,
  actedOn: order.missing === undefined ? undefined : order.openAt(order.missing).find(isStep),
});

// Which fields of an input differ: the first few, with short texts.

const mostFields = 8;
const mostLength = 80;

const shortText = (json: Json | undefined): string | undefined => {
  const text = json === undefined ? undefined : stringify(json);
  return text === undefined || text.length <= mostLength ? text : `${text.slice(0, mostLength)}…`;
};

type DifferentField = NonNullable<RequestDifference["fields"]>[number];

const differentField = (path: string, expected: Json | undefined, found: Json | undefined): DifferentField => {
  const [was, is] = [shortText(expected), shortText(found)];
  return { path, ...(was === undefined ? {} : { expected: was }), ...(is === undefined ? {} : { found: is }) };
};

const membersOf = (json: Json | undefined): { readonly [key: string]: Json } | undefined =>
  Array.isArray(json) || isObject(json) ? (json as { readonly [key: string]: Json }) : undefined;

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Lists the differences of two values by their paths (RFC 6901), up to a number. */
export const differentFields = (
  path: string,
  expected: Json | undefined,
  found: Json | undefined,
): DifferentField[] => {
  const [was, is] = [membersOf(expected), membersOf(found)];
  if (was === undefined || is === undefined || Array.isArray(was) !== Array.isArray(is)) {
    const isSame = expected !== undefined && found !== undefined && stringify(expected) === stringify(found);
    return isSame ? [] : [differentField(path, expected, found)];
  }
  const fields: DifferentField[] = [];
  for (const key of [...new Set([...Object.keys(was), ...Object.keys(is)])].toSorted()) {
    if (fields.length >= mostFields) break;
    const at = (of: { readonly [key: string]: Json }): Json | undefined =>
      Object.hasOwn(of, key) ? of[key] : undefined;
    fields.push(...differentFields(`${path}/${escaped(key)}`, at(was), at(is)));
  }
  return fields.slice(0, mostFields);
};

/** Returns what is compared of a request: the input of a step, and whatever else is asked for. */
const inputOf = (effect: EffectSpec): Json => {
  if (effect.kind === "step" || effect.kind === "trigger") return effect.input;
  const { kind: _, ...rest } = effect;
  return rest as unknown as Json;
};

const named = ({ key, hash, effect }: Request): NamedRequest => ({ key, kind: effect.kind, hash });

interface OnRecord {
  readonly request: NamedRequest;
  /** The event that asked for it, or reused an answer. */
  readonly seq: number;
}

const onRecord = ({ open, settled }: BodyState, key: string): OnRecord | undefined => {
  const asked = open.find((effect) => effect.key === key);
  if (asked !== undefined) return { request: { key, kind: asked.kind, hash: asked.hash }, seq: asked.seq };
  const done = settled.get(key);
  return done && { request: { key, kind: done.kind, hash: done.hash }, seq: done.requested };
};

/** Reads from the log what was asked for; an answer that was reused does not say it. */
const recordedInput = async (port: RecordedRunPort, { seq }: OnRecord): Promise<EffectSpec | undefined> => {
  await port.runner.whenDurable(seq);
  const event = await shownEventAt(port, seq);
  return event.type === "effect.requested" ? event.effect : undefined;
};

/** Returns what a run asked for, what its log has in that place, and where their inputs differ. */
const differenceOf = async (
  port: RecordedRunPort,
  body: BodyState,
  { key, request, before, actedOn }: Divergence,
): Promise<RequestDifference> => {
  const there = key === undefined ? undefined : onRecord(body, key);
  const expected = before === undefined ? there?.request : named(before);
  const found = request && named(request);
  const both = {
    ...(expected === undefined ? {} : { expected }),
    ...(found === undefined ? {} : { found }),
    ...(actedOn === undefined ? {} : { actedOn }),
  };
  if (request === undefined || expected?.key !== request.key || expected.kind !== request.effect.kind) return both;
  const was = before?.effect ?? (there && (await recordedInput(port, there)));
  return was === undefined ? both : { ...both, fields: differentFields("", inputOf(was), inputOf(request.effect)) };
};

/** Makes the event that records a divergence: from protocol 2 on with the version of the code, and with what differs. */
export const divergedEvent = async (
  port: RecordedRunPort,
  versions: CodeVersions,
  { call, attempt, run }: RunId,
  position: number,
  divergence: Divergence,
): Promise<Event> => {
  const { expected, found } = divergence;
  const diverged = { type: "call.diverged", call, attempt, run, position, expected, found } as const;
  const { state } = port.runner;
  const row = state.calls.at(call);
  if (row?.phase !== "running" || !hasRule(state.scope.protocol, "parked_divergence")) return diverged;
  const version = versions.ofRun(state, row.body.manifest.id);
  return { ...diverged, ...version, differs: await differenceOf(port, row.body, divergence) };
};

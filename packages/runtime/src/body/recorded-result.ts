/**
 * Results of effects as the log has them: those of steps are written here, and all are read from the events that hold them. In
 * a step's result JSON stands as it is. What JSON has not (a Date, a Map, a bigint in a Set, undefined, a cycle, an error)
 * stands under a mark, in the flat form of devalue:
 *
 *   { cents: 5 }          { "cents": 5 }
 *   new Date(0)           { "$kept": [["Date", "1970-01-01T00:00:00.000Z"]] }
 *   { "$kept": 1 }        { "$kept": [{ "$kept": 1 }, 1] }    an object that looks like the mark is kept under it as well
 *
 * A body is given the value that was read back from this form, in its first run too, so all runs see the same. An error is
 * the exception: the first run throws the very error, and later ones an error with its name, message, fields and cause.
 */
import type { Event, State } from "@pawl/sansio-core";
import {
  type EffectResult,
  type EffectStatus,
  type ProcessRow,
  type Refusal,
  type SettledEffect,
  ReplyCodec,
  resolutionIn,
  resultAmong,
  type StepError,
} from "@pawl/sansio-core/driver";
import { type Json, type Resolution, describe, jsonFromJs } from "@pawl/tool-value";
import { DevalueError, stringify, unflatten } from "devalue";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, ToolError, textOf } from "../error.ts";

const failed = (code: string, message: string): EffectResult => ({ status: "err", error: { code, message } });
const done = (value: Json): EffectResult => ({ status: "ok", value });

const timedOut = failed("durable_effect_event_timeout", "durable effect external event wait timed out");
const cancelled = failed("durable_effect_event_cancelled", "durable effect external event wait was cancelled");
const revoked = failed("await_event_unknown_or_revoked", "await-event key is invalid or revoked");

const resultOfResolution = (resolution: Resolution): EffectResult => {
  switch (resolution.status) {
    case "ok":
      return done(resolution.payload);
    case "err":
      return failed(resolution.payload.code, resolution.payload.message);
    case "timeout":
      return timedOut;
    case "cancelled":
      return cancelled;
  }
};

const awaitPrefix = "await-event:";

/** Returns the key of the effect that waits under a wait's key. */
export const awaitEffectKey = (wait: string): string => awaitPrefix + wait;
const waitOfKey = (key: string): string => key.slice(awaitPrefix.length);

/** Reads from an event how a wait ended. Its time can be over in any event, even in one that resolves it. */
const resultOfWait = (event: Event, key: string, status: EffectStatus): EffectResult => {
  const resolution = resolutionIn(event, waitOfKey(key));
  if (resolution !== undefined && (status === "err") === (resolution.status !== "ok"))
    return resultOfResolution(resolution);
  if (event.type === "wait.cancelled" && event.key === key) return cancelled;
  if (event.type === "wait.revoked" && event.keys.includes(waitOfKey(key))) return revoked;
  if (event.type === "session.deleted" || (event.type === "effect.requested" && event.key === key)) return revoked;
  return timedOut;
};

/** Reads a person's decision; any other event is the one with which its time was over. */
const resultOfApproval = (event: Event): EffectResult => {
  if (event.type !== "approval.decided") return done({ approved: false, reason: "nobody decided in time" });
  const { decision, by } = event;
  if (decision.type === "reject") return done({ approved: false, reason: decision.reason, by });
  return done(decision.type === "approve" ? { approved: true, by } : { approved: true, args: decision.args, by });
};

/** Reads the value of an effect from the event that holds it; that of a process's event needs the process's row too. */
export const resultIn = (
  event: Event,
  key: string,
  effect: SettledEffect,
  process?: ProcessRow,
  refused?: Refusal,
): EffectResult => {
  if (event.type === "effect.requested" && event.key === key && event.refused !== undefined)
    return { status: "err", error: event.refused };
  const { kind, status } = effect;
  if (kind === "wait") return resultOfWait(event, key, status);
  if (kind === "approval") return resultOfApproval(event);
  if (kind === "message" || kind === "event") return resultAmong(event, process, refused) ?? done(null);
  if (event.type === "replies.recorded") return done(event.replies.map(ReplyCodec.encode) as Json);
  const isAnswer = (event.type === "step.settled" || event.type === "host.answered") && event.key === key;
  return isAnswer ? event.result : done(null);
};

/** Reads a value that an earlier event holds: that of a wait stands in the wait's row. */
export const resolvedIn = ({ waits }: State, key: string, effect: SettledEffect): EffectResult => {
  const wait = waits.at(waitOfKey(key));
  return wait?.terminal === undefined
    ? resultIn({ type: "clock.ticked" }, key, effect)
    : resultOfResolution(wait.terminal.resolution);
};

const mark = "$kept";

const isMarked = (json: Json): json is { readonly [mark]: Json } =>
  typeof json === "object" && json !== null && Object.hasOwn(json, mark) && Object.keys(json).length === 1;

/** The parts of an error that are on record. */
interface KeptError {
  readonly name: string;
  readonly message: string;
  /** The name of its class, where that is another. */
  readonly class?: string;
  readonly fields?: object;
  readonly cause?: unknown;
}

/** Classes of errors that were read back, by name. */
const classes = new WeakMap<Error, string>();

const isKept = (value: unknown): boolean => {
  try {
    stringify(value, reducers);
    return true;
  } catch {
    return false; // A function, or a class that nothing is known of.
  }
};

/** Reads an error. Of its own fields those that can be kept are; the rest is no reason to lose the error. */
const reducedError = (error: Error): KeptError => {
  const { name, message, constructor } = error;
  const fields = Object.entries(error).filter(([key, value]) => key !== "name" && key !== "cause" && isKept(value));
  const cause = "cause" in error && isKept(error.cause) ? { cause: error.cause } : {};
  return {
    name: String(name).toWellFormed(),
    message: textOf(message),
    ...(constructor.name === name ? {} : { class: constructor.name }),
    ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }),
    ...cause,
  };
};

const reducers = { Error: (value: unknown) => value instanceof Error && reducedError(value) };

const revivedError = (kept: KeptError): Error => {
  const { name, message, fields = {} } = kept;
  const error = name === "ToolError" ? new ToolError(message) : new Error(message);
  const hidden = { configurable: true, writable: true, enumerable: false };
  Object.defineProperty(error, "name", { ...hidden, value: name });
  Object.defineProperty(error, "stack", { ...hidden, value: `${name}: ${message}` }); // The frames are of another run.
  if ("cause" in kept) Object.defineProperty(error, "cause", { ...hidden, value: kept.cause });
  classes.set(error, kept.class ?? name);
  return Object.assign(error, fields);
};

const revivers = { Error: revivedError };

/** Says where in a value the part stands that cannot be kept, and what it is. */
const problemOf = (thrown: unknown): string => {
  if (!(thrown instanceof DevalueError)) return textOf(thrown);
  const found = thrown.message.replace(/^Cannot stringify /, "").replace(/ without.*$/, "");
  return `\`${thrown.path === "" ? "it" : thrown.path}\` is ${found}, which cannot be kept`;
};

const flat = (value: unknown, what: string): Json => {
  let text: string;
  try {
    text = stringify(value, reducers);
  } catch (thrown) {
    throw new EffectError("durable_effect_value", `${what}: ${problemOf(thrown)}`);
  }
  const json = jsonFromJs({ [mark]: JSON.parse(text) as unknown });
  if (E.isRight(json)) return json.right;
  throw new EffectError("durable_effect_value", `${what}: ${describe(json.left)}`);
};

/** Returns a value as the log keeps it; throws what cannot be kept, by its place in the value. */
export const keptValue = (value: unknown, what: string): Json => {
  const json = jsonFromJs(value);
  if (E.isRight(json)) return isMarked(json.right) ? flat(value, what) : json.right;
  if (json.left.code === "invalid_value") return flat(value, what);
  throw new EffectError("durable_effect_value", `${what}: ${describe(json.left)}`);
};

/** Reads a value back. */
export const valueOfKept = (json: Json): unknown =>
  isMarked(json) ? unflatten(json[mark] as number | unknown[], revivers) : json;

/** The errors themselves, for the run that they were thrown in. */
const thrownAs = new WeakMap<StepError, { readonly thrown: unknown }>();

/** Keeps what a step threw beside the error of its record. What pawl itself says is that already. */
export const keptError = (error: StepError, thrown: unknown): StepError => {
  if (thrown instanceof EffectError) return error;
  const kept = isKept(thrown) ? thrown : new Error(error.message);
  const record = { ...error, thrown: flat(kept, "what the step threw") };
  thrownAs.set(record, { thrown });
  return record;
};

/** Returns what a step threw: the very error in the run that it came from, and one that is made of its record in others. */
export const thrownBy = (error: StepError): unknown => {
  const here = thrownAs.get(error);
  if (here !== undefined) return here.thrown;
  return error.thrown === undefined ? new EffectError(error.code, error.message) : valueOfKept(error.thrown);
};

/**
 * Tells whether an error is of a class, by the class's name or its own `name`. An error of a step that an earlier run threw
 * is no instance of the class any more, and this finds it all the same.
 */
export const isError = (thrown: unknown, name: string): thrown is Error =>
  thrown instanceof Error && (thrown.name === name || thrown.constructor.name === name || classes.get(thrown) === name);

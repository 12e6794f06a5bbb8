/**
 * The text of an event, as its codec and the writer of records make it, and back. The two events that a durable step
 * leaves are most of a log: they are written straight, their fields in the codec's order, and the second is read so.
 */
import {
  type Json,
  type ValueError,
  json,
  quote,
  readOwned,
  string,
  stringify,
  stringifyRecord,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Event, EventOf } from "../kernel/event.ts";
import { EventCodec } from "../machine.ts";

type OfRun = Pick<EventOf<"step.settled">, "call" | "attempt" | "run" | "key">;

const runText = ({ call, attempt, run, key }: OfRun): string =>
  `"call":${quote(call)},"attempt":${attempt},"run":${run},"key":${quote(key)}`;

const requestedText = (event: EventOf<"effect.requested">): string | undefined => {
  const { effect, hash } = event;
  if (effect.kind !== "step" || event.refused !== undefined) return undefined;
  const step = `{"kind":"step","recovery":"${effect.recovery}","input":${stringify(effect.input)}}`;
  return `{"type":"effect.requested",${runText(event)},"hash":${quote(hash)},"effect":${step}}`;
};

const settledText = (event: EventOf<"step.settled">): string | undefined => {
  const { result } = event;
  if (result.status !== "ok") return undefined;
  return `{"type":"step.settled",${runText(event)},"result":{"status":"ok","value":${stringify(result.value)}}}`;
};

const straight = (event: Event): string | undefined => {
  switch (event.type) {
    case "effect.requested":
      return requestedText(event);
    case "step.settled":
      return settledText(event);
    default:
      return undefined;
  }
};

export const eventText = (event: Event): string => straight(event) ?? stringifyRecord(EventCodec.encode(event));

type Fields = { readonly [field: string]: Json | undefined };

const fieldsOf = (u: Json | undefined): Fields => (typeof u === "object" && u !== null ? (u as Fields) : {});

/** Reads the end of a step straight, where it stands there as the writer writes it. */
const settledOf = (u: Json): EventOf<"step.settled"> | undefined => {
  const { type, call, attempt, run, key, result } = fieldsOf(u);
  const { status, value } = fieldsOf(result);
  if (type !== "step.settled" || status !== "ok" || value === undefined) return undefined;
  if (!string.is(call) || !u64.is(attempt) || !u64.is(run) || !string.is(key)) return undefined;
  const read = readOwned(json, value);
  if (E.isLeft(read)) return undefined;
  const ok = { status: "ok", value: read.right } as const;
  return { type: "step.settled", call, attempt: attempt + 0, run: run + 0, key, result: ok };
};

/** The event in JSON that a parser has just made, and that nobody else holds. */
export const eventOf = (u: Json): E.Either<ValueError, Event> => {
  const settled = settledOf(u);
  return settled === undefined ? readOwned(EventCodec, u) : E.right(settled);
};

/**
 * The text of an event, as its codec and the writer of records make it. The two events that a durable step leaves are
 * most of a log, and are written straight: their fields in the codec's order.
 */
import { quote, stringify, stringifyRecord } from "@pawl/tool-value";
import { EventCodec } from "../codec.ts";
import type { Event, EventOf } from "../event.ts";

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

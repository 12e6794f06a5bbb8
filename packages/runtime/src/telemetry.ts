/** Those who read along all that a runtime does: what it logs, what it traces. Without one nothing is made for them. */
import { type Command, type Event, type EventOf, type State, recordedOf } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Journal } from "./journal/journal.ts";
import type { Cause } from "./scope/runner.ts";
import { readText } from "./read-text.ts";

/** It must not throw, and holds up every event by what it takes. */
export interface Telemetry {
  /** An event was stepped, with what follows from it; it may not be durable yet. */
  readonly stepped: (scope: string, cause: Cause, commands: readonly Command[]) => void;
  /** A request whose caller has no span is about to be stepped: the span to be recorded with it, if there is one. */
  readonly begins?: (scope: string, request: string) => string | undefined;
  /** A scope was claimed: the spans that were recorded with its live requests, by request. */
  readonly resumes?: (scope: string, spans: ReadonlyMap<string, string>) => void;
  /** The scope is not this runtime's any more, or never was. */
  readonly lost: (scope: string, error: Error) => void;
}

export const bothOf = (one: Telemetry | undefined, other: Telemetry): Telemetry =>
  one === undefined
    ? other
    : {
        stepped: (...of) => {
          one.stepped(...of);
          other.stepped(...of);
        },
        begins: (...of) => one.begins?.(...of) ?? other.begins?.(...of),
        resumes: (...of) => {
          one.resumes?.(...of);
          other.resumes?.(...of);
        },
        lost: (...of) => {
          one.lost(...of);
          other.lost(...of);
        },
      };

type Submitted = EventOf<"request.submitted" | "flow.submitted">;

/** What is recorded of a request, with a span to go on from in another process. */
export const withSpan = <A extends Submitted>(telemetry: Telemetry | undefined, scope: string, event: A): A => {
  if (event.type !== "request.submitted" || event.traceparent !== undefined) return event;
  const traceparent = telemetry?.begins?.(scope, event.request);
  return traceparent === undefined ? event : { ...event, traceparent };
};

/** The same event as it is recorded, with the same span. */
export const spannedAs = (event: Event, kept: Event): Event =>
  event.type === "request.submitted" && kept.type === event.type && event.traceparent !== undefined
    ? { ...kept, traceparent: event.traceparent }
    : kept;

const spanIn = (line: string): string | undefined => {
  const read = readText(line, recordedOf);
  return E.isRight(read) && read.right.event.type === "request.submitted" ? read.right.event.traceparent : undefined;
};

/** Tells who reads along of the spans that were recorded; what retention has cut is not told. */
export const tellSpans = async (
  { telemetry, journal }: { readonly telemetry?: Telemetry; readonly journal: Journal },
  { scope: { id }, requests }: State,
): Promise<void> => {
  if (telemetry?.resumes === undefined || requests.size === 0) return;
  const spans = new Map<string, string>();
  for (const { request, born } of requests.rows()) {
    const [first] = await journal.read(id, born, born);
    const span = first && spanIn(first.line);
    if (span !== undefined) spans.set(request, span);
  }
  telemetry.resumes(id, spans);
};

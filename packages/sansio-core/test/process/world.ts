/** A process to test with, and events to append to it. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { eventPayloadHash, registrationHash } from "../../src/process/hash.ts";
import { type Appended, type ProcessAppend, appendEvent } from "../../src/process/append.ts";
import type {
  EventTypeSemantics,
  ProcessEventAppendRequest,
  ProcessEventType,
  ProcessRegistration,
  ProcessRow,
} from "../../src/process/model.ts";
import { checkRegistration, register } from "../../src/process/registration.ts";

export const right = <A>(either: E.Either<unknown, A>): A => {
  if (E.isLeft(either)) throw new Error(`unexpected: ${JSON.stringify(either.left)}`);
  return either.right;
};
export const messageOf = (either: E.Either<{ readonly message: string }, unknown>): string =>
  E.isLeft(either) ? either.left.message : "no error";

export const eventType = (name: string, semantics: EventTypeSemantics = {}): ProcessEventType => ({
  name,
  payload_schema: { schema: {} },
  semantics,
});

export const registration = (
  types: readonly ProcessEventType[] = [],
  more: Partial<ProcessRegistration> = {},
): ProcessRegistration => ({
  id: "p1",
  input: { type: "external", metadata: null },
  identity: { kind: "external" },
  event_types: types,
  provenance: { originator: { type: "host" } },
  ...more,
});

export const processRow = (
  types: readonly ProcessEventType[] = [],
  more: Partial<ProcessRegistration> = {},
): ProcessRow => {
  const completed = right(checkRegistration(registration(types, more)));
  return right(register(undefined, completed, registrationHash(completed), 1000)).row;
};

export const request = (type: string, payload: Json, key?: string): ProcessEventAppendRequest => ({
  event_type: type,
  payload,
  ...(key === undefined ? {} : { replay: { key } }),
});

/** A request as the runtime hands it in. */
export const prepared = (asked: ProcessEventAppendRequest, more: Partial<ProcessAppend> = {}): ProcessAppend => ({
  processId: "p1",
  request: asked,
  payloadHash: eventPayloadHash(asked.event_type, asked.payload).hash,
  at: 2500,
  ...more,
});

export const append = (
  row: ProcessRow | undefined,
  asked: ProcessEventAppendRequest,
  more: Partial<ProcessAppend> = {},
): ReturnType<typeof appendEvent> => appendEvent(row, prepared(asked, more));

/** Appends that are all accepted. */
export const appendAll = (row: ProcessRow, asked: readonly ProcessEventAppendRequest[]): readonly Appended[] => {
  const results: Appended[] = [];
  for (const one of asked) results.push(right(append(results.at(-1)?.row ?? row, one)));
  return results;
};

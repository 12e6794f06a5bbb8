/** Events for a process's log, from the host and from engines: appended once under one replay key. */
import {
  type ProcessEvent,
  type ProcessEventAppendRequest,
  appendEvent,
  eventPayloadHash,
  processOfScope,
} from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { Refused } from "../error.ts";
import { payloadMismatch } from "../tool/payload-schema.ts";
import type { ScopeAccess } from "./work.ts";
import { decodedEvent } from "../scope/round-trip.ts";

/** Appends an event to the process of a scope, or finds it there; durable when it resolves. */
export const appendProcessEvent = async (
  scope: ScopeAccess,
  request: ProcessEventAppendRequest,
): Promise<ProcessEvent> => {
  const row = scope.runner.state.process;
  const payloadHash = eventPayloadHash(request.event_type, request.payload).hash;
  const problem = payloadMismatch(row, request.event_type, request.payload);
  const verdict = problem === undefined ? {} : { invalid: problem };
  const told = scope.runner.apply(
    decodedEvent({ type: "process.event_appended", request, payload_hash: payloadHash, ...verdict }),
  );
  if (E.isLeft(told) && told.left.code !== "process_event_exists") throw new Refused(told.left.code, told.left.message);
  const { at } = scope.runner.state;
  const appended = appendEvent(row, {
    processId: processOfScope(scope.runner.id),
    request,
    payloadHash,
    at,
    ...verdict,
  });
  await scope.runner.whenDurable();
  if (E.isLeft(appended)) throw new Refused(appended.left.code, appended.left.message);
  return appended.right.event;
};

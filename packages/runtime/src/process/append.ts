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
import { payloadMisfit } from "../tool/payload-schema.ts";
import type { Workplace } from "./work.ts";
import { admittedEvent } from "../scope/readable.ts";

/** Appends an event to the process of a scope, or finds it there; durable when it resolves. */
export const appendProcessEvent = async (
  scope: Workplace,
  request: ProcessEventAppendRequest,
): Promise<ProcessEvent> => {
  const row = scope.runner.state.process;
  const payloadHash = eventPayloadHash(request.event_type, request.payload).hash;
  const misfit = payloadMisfit(row, request.event_type, request.payload);
  const verdict = misfit === undefined ? {} : { invalid: misfit };
  const told = scope.runner.tell(
    admittedEvent({ type: "process.event_appended", request, payload_hash: payloadHash, ...verdict }),
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
  await scope.runner.settled();
  if (E.isLeft(appended)) throw new Refused(appended.left.code, appended.left.message);
  return appended.right.event;
};

/** Cancels a request, or one call of it. An end that is stepped first wins. */
import * as E from "fp-ts/lib/Either.js";
import { type Access, decodedEvent, missingCall, refuse } from "../scope/access.ts";
import { Refused, shownOf } from "../error.ts";
import { eventsOfTypes } from "../scope/history.ts";

export type Target = { readonly request: string } | { readonly call: string };

const byOf = (by: string | undefined): { readonly by?: string } => (by === undefined ? {} : { by });

const cancelCall = async (access: Access, call: string, by?: string): Promise<void> => {
  const told = access.runner.apply(decodedEvent({ type: "call.cancelled", call, ...byOf(by) }));
  if (E.isRight(told)) return access.runner.whenDurable();
  return told.left.code === "call_unknown" ? missingCall(access, call, told.left) : refuse(access, told.left);
};

const cancelRequest = async (access: Access, request: string, by?: string): Promise<void> => {
  const told = access.runner.apply(decodedEvent({ type: "request.cancelled", request, ...byOf(by) }));
  if (E.isRight(told)) return access.runner.whenDurable();
  const seq = told.left.code === "request_unknown" ? await access.finished.find("request", request) : undefined;
  if (seq === undefined) return refuse(access, told.left);
  return refuse(access, { code: "call_ended", message: `request \`${request}\` was finished by event ${seq}` });
};

/** Says whether the log has the same cancel by the same author. */
const wasCancelled = async (access: Access, target: Target, by: string | undefined): Promise<boolean> => {
  const recorded = await eventsOfTypes(access, new Set(["call.cancelled", "request.cancelled"]));
  return recorded.some(({ event }) => {
    if (event.type === "call.cancelled") return "call" in target && event.call === target.call && event.by === by;
    if (event.type !== "request.cancelled") return false;
    return "request" in target && event.request === target.request && event.by === by;
  });
};

/** Refuses a bare text: a program without types may hand one in. */
const admitTarget = (target: unknown): void => {
  if (typeof target === "object" && target !== null) return;
  throw new Refused("invalid_argument", `\`cancel\`: expected { call } or { request }, found ${shownOf(target)}`);
};

/** `again`: its answer may have been lost before. */
export const cancel = async (access: Access, target: Target, by?: string, again = false): Promise<void> => {
  admitTarget(target);
  if (again && (await wasCancelled(access, target, by))) return;
  return "call" in target ? cancelCall(access, target.call, by) : cancelRequest(access, target.request, by);
};

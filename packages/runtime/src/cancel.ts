/** Somebody no longer wants a request, or one call. Finish wins over a cancel that comes after it. */
import * as E from "fp-ts/lib/Either.js";
import { type Access, missingCall, refuse } from "./access.ts";

/** What is to stop. */
export type Target = { readonly request: string } | { readonly call: string };

const byOf = (by: string | undefined): { readonly by?: string } => (by === undefined ? {} : { by });

const cancelCall = async (access: Access, call: string, by?: string): Promise<void> => {
  const told = access.runner.tell({ type: "call.cancelled", call, ...byOf(by) });
  if (E.isRight(told)) return access.runner.settled();
  return told.left.code === "call_unknown" ? missingCall(access, call, told.left) : refuse(access, told.left);
};

const cancelRequest = async (access: Access, request: string, by?: string): Promise<void> => {
  const told = access.runner.tell({ type: "request.cancelled", request, ...byOf(by) });
  if (E.isRight(told)) return access.runner.settled();
  const seq = told.left.code === "request_unknown" ? await access.finished.find("request", request) : undefined;
  if (seq === undefined) return refuse(access, told.left);
  return refuse(access, { code: "call_ended", message: `request \`${request}\` was finished by event ${seq}` });
};

export const cancel = (access: Access, target: Target, by?: string): Promise<void> =>
  "call" in target ? cancelCall(access, target.call, by) : cancelRequest(access, target.request, by);

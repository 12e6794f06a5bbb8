/** What a session asks of a process. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { eventPayloadHash, registrationHash } from "../../src/process/hash.ts";
import type { Asking } from "../../src/message/message.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { checkRegistration } from "../../src/process/registration.ts";

const checked = (registration: ProcessRegistration): ProcessRegistration => {
  const result = checkRegistration(registration);
  if (E.isLeft(result)) throw new Error(result.left.message);
  return result.right;
};

export const start = (of: ProcessRegistration): Extract<Asking, { readonly type: "process.start" }> => ({
  type: "process.start",
  registration: of,
  hash: registrationHash(checked(of)),
});
export const cancel = (reason: string): Asking => ({
  type: "process.cancel",
  reason,
  payload_hash: eventPayloadHash("process.cancel_requested", { reason }).hash,
});
export const signal = (name: string, payload: Json, id = "s1"): Asking => ({
  type: "process.signal",
  name,
  signal_id: id,
  payload,
  payload_hash: eventPayloadHash(`signal.${name}`, payload).hash,
});

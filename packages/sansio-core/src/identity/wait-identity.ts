/** What is waited for, inside an execution scope. */
import { type Codec, record, string, tagged, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { isBlank } from "./blank.ts";
import { ExecutionScope, type IdentityError } from "./execution-scope.ts";

export type AwaitEventWaitIdentity =
  | { readonly type: "tool_completion"; readonly tool_call_id: string }
  | {
      readonly type: "process_signal";
      readonly process_id: string;
      readonly signal_name: string;
      /** The how manieth signal of that name: from 1. */
      readonly ordinal: number;
    }
  | { readonly type: "custom"; readonly key: string };
export const AwaitEventWaitIdentity: Codec<AwaitEventWaitIdentity> = tagged<AwaitEventWaitIdentity, "type">(
  "AwaitEventWaitIdentity",
  "type",
  {
    tool_completion: { tool_call_id: string },
    process_signal: { process_id: string, signal_name: string, ordinal: u64 },
    custom: { key: string },
  },
);

/** What an outside party holds to resolve a wait. */
export interface AwaitEventKey {
  readonly scope: ExecutionScope;
  readonly wait: AwaitEventWaitIdentity;
  readonly key_id: string;
  readonly signature: string;
}
export const AwaitEventKey: Codec<AwaitEventKey> = record<AwaitEventKey>("struct AwaitEventKey", {
  scope: ExecutionScope,
  wait: AwaitEventWaitIdentity,
  key_id: string,
  signature: string,
});

const invalidIdentity: IdentityError = {
  code: "invalid_await_event_wait_identity",
  message: "await-event wait identity requires non-empty stable ids",
};

const isMissing = (component: string | number): boolean =>
  typeof component === "number" ? component === 0 : isBlank(component);

/** A wait all of whose names are names. */
export const checkWaitIdentity = (wait: AwaitEventWaitIdentity): E.Either<IdentityError, AwaitEventWaitIdentity> =>
  Object.values<string | number>(wait).some(isMissing) ? E.left(invalidIdentity) : E.right(wait);

/** The name of a wait's promise in a workflow engine. */
export const promiseKey = (keyId: string): string => `lash-await-event:${keyId}`;

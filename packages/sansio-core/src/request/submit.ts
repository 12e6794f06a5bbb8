/** How a request comes in, whether it makes calls or is a flow. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import { ownExecutionScope } from "./model.ts";
import { problemOfDeleted } from "../scope/admit.ts";

type Submitted = EventOf<"request.submitted" | "flow.submitted">;

/** Why a request may not be submitted under this id, if so. */
export const problemOfId = (draft: Draft, { request, hash }: Submitted): Rejection | undefined => {
  if (request.trim() === "") return reject("empty_id", "a request needs an id that is not blank");
  const live = draft.request(request);
  if (live === undefined) return problemOfDeleted(draft);
  return live.hash === hash
    ? reject("request_exists", `request \`${request}\` is live: join it`)
    : reject(
        "request_conflict",
        `request \`${request}\` is live under another body: expected ${live.hash}, found ${hash}`,
      );
};

export const begin = (draft: Draft, { request, hash, execution_scope }: Submitted): void => {
  const executionScope = execution_scope ?? ownExecutionScope(draft.scope.id, request);
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
};

/** A session that was deleted takes nothing more. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";

/** Why nothing more is taken, if the session is deleted. */
export const misfitOfDeleted = ({ deletion, scope }: Draft): Rejection | undefined =>
  deletion === undefined ? undefined : reject("session_deleted", `\`${scope.id}\` was deleted`);

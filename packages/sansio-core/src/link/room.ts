/** Whether a link takes one more message, or some of it has to be answered first. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { unansweredOf } from "./model.ts";

export const misfitOfLink = (draft: Draft, to: string): Rejection | undefined => {
  const row = draft.link(to);
  const max = draft.options.max_unanswered;
  return row === undefined || unansweredOf(row) < max
    ? undefined
    : reject("link_full", `to \`${to}\`: ${max} messages are not answered yet`);
};

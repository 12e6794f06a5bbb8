/** Bodies that start again: the next attempt, after a pause, with other arguments. */
import type { Json } from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { Draft } from "../kernel/draft.ts";
import type { BodyState, CallIn, CallRow } from "./model.ts";
import { execute, resuming, running } from "./launch.ts";

/** What an attempt leaves to the next: what it settled, and the steps that must not run twice. */
export const nextAttempt = (draft: Draft, row: CallRow, body: BodyState): CallIn<"running"> => {
  const open = body.open.filter((effect) => effect.recovery === "once");
  const next = running(draft, row, { ...body, attempt: body.attempt + 1, run: 1, resumes: 0, open });
  execute(draft, next, next.body);
  return next;
};

/** The pause is over. */
export const pauseOver = (draft: Draft, row: CallIn<"resuming">): CallIn<"resuming"> => {
  execute(draft, row, row.body, row.cause);
  return { ...row, due: undefined };
};

/** `ctx.continueAs`: the body starts anew under the same call, with nothing remembered. */
export const continued = (draft: Draft, row: CallIn<"running">, args: Json): CallRow =>
  resuming(
    draft,
    { ...row, args },
    { body: { ...row.body, open: [], settled: PersistentMap.empty() }, cause: "continued" },
  );

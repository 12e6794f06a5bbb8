/** What a body waited for ends, and one that was dropped meanwhile starts again. */
import { resuming } from "./launch.ts";
import { type CallRow, bodyOf } from "./model.ts";
import { known, putCall } from "./place.ts";
import type { Draft } from "../kernel/draft.ts";
import type { CallRef } from "../kernel/ids.ts";
import { type Bodied, type End, settleAll } from "./settle.ts";

/** A body that was dropped while it waited starts again when something comes. */
const wake = (draft: Draft, row: Bodied): CallRow =>
  row.phase === "suspended" ? resuming(draft, row, { body: row.body, cause: "suspended" }) : row;

/** Ends an open effect of a call, if it is still open: an end that comes late changes nothing. */
export const endEffect = (draft: Draft, ref: CallRef, key: string, end: End): void => {
  const row = known(draft, ref);
  const effect = bodyOf(row)?.open.find((open) => open.key === key);
  if (effect === undefined) return;
  putCall(draft, wake(draft, settleAll(draft, row as Bodied, effect, end)), row);
};

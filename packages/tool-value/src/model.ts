/**
 * The values that tools and models exchange.
 *
 *   text  --parse-->      Json  --decode-->  ToolValue
 *   text  <--stringify--  Json  <--encode--  ToolValue      (canonicalJson = stringify after encode, in one pass)
 *                         Json  --lift-->    ToolValue
 *
 * A ToolValue is JSON in which an attachment may stand wherever a value may. Two things go beyond plain JSON:
 *
 *   Integers are exact at any size. Within ±(2^53 - 1) they are numbers, beyond it bigints.
 *
 *   Attachments have no JSON of their own, so their encoding is an object under a reserved key:
 *     {"$lash_tool_value": "attachment", "ref": {...}}
 *   A user's object that happens to have this key is escaped, so that no input can forge an attachment:
 *     {"$lash_tool_value": "object", "entries": {...}}
 *
 * `decode` reads these tags and fails on a malformed one. `lift` takes JSON literally, reserved key included, and cannot
 * fail. `fromJs` takes what a JavaScript caller built, attachments included.
 *
 * All three return the normal form (normal-form.ts), a fresh copy. A value in normal form is equal, to the bit, to what
 * its own canonical text reads back as. Replay rests on this: a tool's body gets the same value live, where it comes from
 * memory, and in a re-run, where it comes from the log.
 */
import type { Attachment } from "./attachment.ts";

export type ToolValue = null | boolean | number | bigint | string | Attachment | readonly ToolValue[] | ToolObject;
export interface ToolObject {
  readonly [key: string]: ToolValue;
}

/** The reserved key of encoded values. */
export const tagKey = "$lash_tool_value";

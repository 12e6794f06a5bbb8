/**
 * A ToolValue in natural TypeScript.
 *
 *   text  --parse-->      Json  --decode-->  ToolValue
 *   text  <--stringify--  Json  <--encode--  ToolValue      (canonicalJson = stringify after encode, in one pass)
 *
 * `decode` reads tags and may fail; `lift` takes JSON as it is and can not. Both give the normal form of normal.ts.
 */
import type { Attachment } from "./attachment.ts";

export type ToolValue = null | boolean | number | bigint | string | Attachment | readonly ToolValue[] | ToolObject;
export interface ToolObject {
  readonly [key: string]: ToolValue;
}

/** The key under which an encoded value says what it is; an object of a user's that has it is escaped. */
export const tagKey = "$lash_tool_value";

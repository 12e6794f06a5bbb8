/** Payloads of process events against the schemas of their types. */
import type { ProcessRow } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { mismatchesOf } from "./json-schema.ts";

/** Why a payload does not fit the schema of its type; a type that is not declared is refused elsewhere. */
export const payloadMismatch = (row: ProcessRow | undefined, eventType: string, payload: Json): string | undefined => {
  const type = row?.registration.event_types.find(({ name }) => name === eventType);
  if (type === undefined) return undefined;
  const schema = type.payload_schema.schema;
  if (schema === true || (typeof schema === "object" && schema !== null && Object.keys(schema).length === 0)) {
    return undefined;
  }
  const mismatch = mismatchesOf(schema as object | boolean)(payload);
  return mismatch && `${mismatch.at}: ${mismatch.why}`.toWellFormed();
};

/** Payloads of process events against the schemas of their types. */
import type { ProcessRow } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import { type Schema, Validator } from "@cfworker/json-schema";

/** Why a payload does not fit the schema of its type; a type that is not declared is refused elsewhere. */
export const payloadMisfit = (row: ProcessRow | undefined, eventType: string, payload: Json): string | undefined => {
  const type = row?.registration.event_types.find(({ name }) => name === eventType);
  if (type === undefined) return undefined;
  const schema = type.payload_schema.schema;
  if (schema === true || (typeof schema === "object" && schema !== null && Object.keys(schema).length === 0)) {
    return undefined;
  }
  const { valid, errors } = new Validator(schema as Schema | boolean, "2020-12", true).validate(payload);
  if (valid) return undefined;
  const last = errors.at(-1);
  return `${last?.instanceLocation ?? "#"}: ${last?.error ?? "does not fit its schema"}`.toWellFormed();
};

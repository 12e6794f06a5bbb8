/** JSON as it is read back: objects told from other JSON, and texts decoded. */
import * as E from "fp-ts/lib/Either.js";
import { type JsonObject, type Json, type ValueError, noLimits, parse } from "@pawl/tool-value";

export const isObject = (json: unknown): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);

/** Parses a text that this program wrote, without limits, and decodes it. */
export const readText = <A>(text: string, read: (json: Json) => E.Either<ValueError, A>): E.Either<ValueError, A> => {
  const json = parse(text, noLimits);
  return E.isLeft(json) ? json : read(json.right);
};

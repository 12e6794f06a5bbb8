/**
 * Reading for programs: the same readers as in parse.ts and record.ts, whose errors are thrown, or returned as the libraries
 * of schemas return them. Packages of pawl use the ones that return an `Either`.
 */
import * as E from "fp-ts/lib/Either.js";
import type { Codec } from "./codec.ts";
import { type Json, type Path, type ValueError, type ValueErrorCode, describe } from "./json.ts";
import { parse } from "./parse.ts";
import { read } from "./record.ts";

/** Thrown where a text or a value is not what was wanted: `code` and `path` say what is wrong, and where. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  readonly code: ValueErrorCode;
  readonly path: Path;
  constructor(error: ValueError) {
    super(describe(error));
    this.code = error.code;
    this.path = error.path;
  }
}

export type SafeResult<A> =
  | { readonly success: true; readonly data: A; readonly error?: undefined }
  | { readonly success: false; readonly error: InvalidValue; readonly data?: undefined };

const safe = <A>(result: E.Either<ValueError, A>): SafeResult<A> =>
  E.isRight(result) ? { success: true, data: result.right } : { success: false, error: new InvalidValue(result.left) };

const orThrow = <A>(result: SafeResult<A>): A => {
  if (result.success) return result.data;
  throw result.error;
};

/** Reads JSON text, with exact integers of any size. Never throws. */
export const safeParseJson = (text: string): SafeResult<Json> => safe(parse(text));
/** Reads JSON text, with exact integers of any size. Throws `InvalidValue`. */
export const parseJson = (text: string): Json => orThrow(safeParseJson(text));

/** Reads a value by a codec. Never throws. */
export const safeParseWith = <A>(codec: Codec<A>, value: unknown): SafeResult<A> => safe(read(codec, value));
/** Reads a value by a codec. Throws `InvalidValue`. */
export const parseWith = <A>(codec: Codec<A>, value: unknown): A => orThrow(safeParseWith(codec, value));

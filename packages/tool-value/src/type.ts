/** What codecs are made with: io-ts' `Type`. */
import * as t from "io-ts";

/** How a codec encodes what it takes as it is. */
export const identity = <A>(a: A): A => a;

/** A codec of its own; without `encode`, what it takes is written as it is. */
export const codecFrom = <A>(
  name: string,
  is: t.Is<A>,
  validate: t.Validate<unknown, A>,
  encode: t.Encode<A, unknown> = identity,
): t.Type<A, unknown> => new t.Type(name, is, validate, encode);

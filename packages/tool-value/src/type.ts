/**
 * What codecs are made with: io-ts' `Type`, and nothing else of it. The class of io-ts brings along every codec that
 * io-ts has, since no bundler can tell that they do nothing: a page would start with 1 KB of them, compressed.
 */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";

/** How a codec encodes what it takes as it is. */
export const identity = <A>(a: A): A => a;

type Pipe = t.Type<unknown, unknown>["pipe"];

const piped: Pipe = function (this, next, name = `pipe(${this.name}, ${next.name})`) {
  return new Type(
    name,
    next.is,
    (u, c) => {
      const result = this.validate(u, c);
      return E.isLeft(result) ? result : next.validate(result.right, c);
    },
    (b) => this.encode(next.encode(b)),
  );
};

class Type<A> implements t.Type<A, unknown> {
  declare readonly _A: A;
  declare readonly _O: unknown;
  declare readonly _I: unknown;
  readonly name: string;
  readonly is: t.Is<A>;
  readonly validate: t.Validate<unknown, A>;
  readonly encode: t.Encode<A, unknown>;

  constructor(name: string, is: t.Is<A>, validate: t.Validate<unknown, A>, encode: t.Encode<A, unknown>) {
    this.name = name;
    this.is = is;
    this.validate = validate;
    this.encode = encode;
  }

  /** Bound, as io-ts' own is. */
  readonly decode: t.Decode<unknown, A> = (u) => this.validate(u, [{ key: "", type: this, actual: u }]);
  readonly pipe: Pipe = piped;

  asDecoder(): t.Decoder<unknown, A> {
    return this;
  }

  asEncoder(): t.Encoder<A, unknown> {
    return this;
  }
}

/** A codec of its own; without `encode`, what it takes is written as it is. */
export const codecFrom = <A>(
  name: string,
  is: t.Is<A>,
  validate: t.Validate<unknown, A>,
  encode: t.Encode<A, unknown> = identity,
): t.Type<A, unknown> => new Type(name, is, validate, encode);

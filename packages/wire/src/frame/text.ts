/** Frames as JSON text. An error of decoding names the place and the expectation. */
import {
  type Codec,
  type ValueError,
  type Limits,
  defaultLimits,
  noLimits,
  parse,
  readOwned,
  stringifyRecord,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

const readWithin = <A>(codec: Codec<A>, text: string, limits: Limits): E.Either<ValueError, A> => {
  const parsed = parse(text, limits);
  return E.isLeft(parsed) ? parsed : readOwned(codec, parsed.right);
};

/** Reads a frame of at most `size` bytes, within the limits of values. */
export const readFrame = <A>(codec: Codec<A>, text: string, size: number): E.Either<ValueError, A> =>
  readWithin(codec, text, { ...defaultLimits, size });

/** Reads a frame of a trusted peer, without limits: the program has chosen this host. */
export const readTrusted = <A>(codec: Codec<A>, text: string): E.Either<ValueError, A> =>
  readWithin(codec, text, noLimits);

/** Writes a frame as the text of one message. */
export const frameText = <A>(codec: Codec<A>, frame: A): string => stringifyRecord(codec.encode(frame));

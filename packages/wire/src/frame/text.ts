/** Frames as text. What does not decode is an error with the place and the expectation. */
import {
  type Codec,
  type ValueError,
  defaultLimits,
  noLimits,
  parse,
  readOwned,
  stringifyRecord,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** A frame has the limits of values, and a size of its own. */
export const readFrame = <A>(codec: Codec<A>, text: string, size: number): E.Either<ValueError, A> =>
  E.chain((json: Parameters<typeof readOwned>[1]) => readOwned(codec, json))(parse(text, { ...defaultLimits, size }));

/** As `readFrame`, of what a host that one has chosen says: it may be as large as it is. */
export const readTrusted = <A>(codec: Codec<A>, text: string): E.Either<ValueError, A> =>
  E.chain((json: Parameters<typeof readOwned>[1]) => readOwned(codec, json))(parse(text, noLimits));

export const frameText = <A>(codec: Codec<A>, frame: A): string => stringifyRecord(codec.encode(frame));

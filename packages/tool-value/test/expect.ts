/** Shorthands for the results of reading. */
import * as E from "fp-ts/lib/Either.js";
import { type ValueError, describe } from "../src/index.ts";

/** Returns the right side of an answer, or throws. */
export const right = <A>(answer: E.Either<ValueError, A>): A => {
  if (E.isLeft(answer)) throw new Error(`unexpected error: ${describe(answer.left)}`);
  return answer.right;
};

/** Formats the left side of an answer in one line with its code, or throws. */
export const refusal = (answer: E.Either<ValueError, unknown>): string => {
  if (E.isRight(answer)) throw new Error("unexpected answer: it is right");
  return `${answer.left.code}: ${describe(answer.left)}`;
};

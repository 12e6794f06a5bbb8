/** What tests say of answers. */
import * as E from "fp-ts/lib/Either.js";
import { type ValueError, describe } from "../src/index.ts";

/** What an answer gives; it has to give something. */
export const right = <A>(answer: E.Either<ValueError, A>): A => {
  if (E.isLeft(answer)) throw new Error(`unexpected error: ${describe(answer.left)}`);
  return answer.right;
};

/** Why an answer gives nothing, in one line with its code. */
export const refusal = (answer: E.Either<ValueError, unknown>): string => {
  if (E.isRight(answer)) throw new Error("unexpected answer: it is right");
  return `${answer.left.code}: ${describe(answer.left)}`;
};

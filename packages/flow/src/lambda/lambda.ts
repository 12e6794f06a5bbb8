/** Lambdas that a host applies for its flows: each puts its declaration on a value. */
import * as E from "fp-ts/lib/Either.js";
import type { Declaration } from "./declaration.ts";
import { envelope } from "./envelope.ts";

type Lambdas = { readonly [name: string]: (of: { readonly target: string; readonly input: string }) => string };

/** The lambdas of these declarations; what is claimed of a value and can not be ends the flow. */
export const psiLambdas = (declarations: readonly Declaration[]): Lambdas =>
  Object.fromEntries(
    declarations.map((declaration) => [
      declaration.name,
      ({ target, input }) => {
        const made = envelope(declaration, target === "" ? null : input);
        if (E.isLeft(made)) throw new Error(made.left.message);
        return made.right;
      },
    ]),
  );

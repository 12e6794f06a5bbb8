/** The epistemic envelope: a value together with the claims of its declaration. */
import { decimalText, floatJson } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { type Declaration, derivations } from "./declaration.ts";

/** The error of a declaration whose claims contradict each other. */
export interface EpistemicDegradationError {
  readonly code: "EpistemicDegradationError";
  readonly message: string;
}

const problemOf = ({ name, certainty, derivation }: Declaration): string | undefined => {
  if (!(certainty >= 0 && certainty <= 1)) {
    return `lambda '${name}' has out-of-range certainty ${decimalText(certainty)} (must be in [0.0, 1.0])`;
  }
  if (derivation === "") return undefined;
  if (!derivations.some((known) => known === derivation)) {
    return `lambda '${name}' has unknown derivation '${derivation}' (valid: ${derivations.join(", ")})`;
  }
  if (Math.abs(certainty - 1) >= Number.EPSILON || derivation === "raw") return undefined;
  return (
    `Theorem 5.1 violation at apply time: lambda '${name}' has certainty=1.0 with derivation='${derivation}'. ` +
    "Only 'raw' data may carry absolute certainty (c=1.0)."
  );
};

const undeclared: Declaration = {
  name: "",
  ontology: "",
  certainty: 0,
  temporal_frame_start: "",
  temporal_frame_end: "",
  provenance: "",
  derivation: "",
};

/** Returns the declaration of a name, or an empty one without a name if nobody declared it. */
export const declarationOf = (declarations: Iterable<Declaration>, name: string): Declaration => {
  for (const declaration of declarations) if (declaration.name === name) return declaration;
  return undeclared;
};

const quoted = (text: string): string => JSON.stringify(text);

/** Returns the text of a value's envelope, its keys in this order. The value is null if there is no target. */
export const envelope = (spec: Declaration, value: string | null): E.Either<EpistemicDegradationError, string> => {
  const problem = problemOf(spec);
  if (problem !== undefined) {
    return E.left({
      code: "EpistemicDegradationError",
      message: `[L3] EpistemicDegradationError: ${problem}`,
    });
  }
  const claims =
    `{"c":${floatJson(spec.certainty)},"tau_start":${quoted(spec.temporal_frame_start)},` +
    `"tau_end":${quoted(spec.temporal_frame_end)},"rho":${quoted(spec.provenance)},` +
    `"delta":${quoted(spec.derivation === "" ? "raw" : spec.derivation)}}`;
  return E.right(
    `{"T":${quoted(spec.ontology)},"V":${JSON.stringify(value)},"E":${claims},"spec_name":${quoted(spec.name)}}`,
  );
};

type Lambdas = { readonly [name: string]: (of: { readonly target: string; readonly input: string }) => string };

/** Returns lambdas that put these declarations on values. An impossible claim ends the flow. */
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

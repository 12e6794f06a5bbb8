/** The epistemic envelope: a value with what its declaration claims of it. */
import { decimalText, floatJson } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { type Declaration, derivations } from "./declaration.ts";

/** What is claimed of a value can not be. */
export interface EpistemicDegradationError {
  readonly code: "EpistemicDegradationError";
  readonly message: string;
}

const misfitOf = ({ name, certainty, derivation }: Declaration): string | undefined => {
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

/** The declaration of a name; of one that nobody declared, one that claims nothing and has no name itself. */
export const declarationOf = (declarations: Iterable<Declaration>, name: string): Declaration => {
  for (const declaration of declarations) if (declaration.name === name) return declaration;
  return undeclared;
};

const quoted = (text: string): string => JSON.stringify(text);

/** Puts a declaration on a value: the envelope's text, its keys in this order. A value of null is that of no target. */
export const envelope = (spec: Declaration, value: string | null): E.Either<EpistemicDegradationError, string> => {
  const misfit = misfitOf(spec);
  if (misfit !== undefined) {
    return E.left({
      code: "EpistemicDegradationError",
      message: `[L3] EpistemicDegradationError: ${misfit}`,
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

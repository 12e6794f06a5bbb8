/** How often a call is tried. */

/** Milliseconds: a number as far as these count exactly, beyond that a bigint. */
export type Millis = number | bigint;

/** A retry policy of the catalog, or one whose delays are larger than a number counts. */
export type RetryTerms =
  | { readonly type: "never" }
  | {
      readonly type: "safe" | "idempotent";
      readonly max_attempts: Millis;
      readonly base_delay_ms: Millis;
      readonly max_delay_ms: Millis;
    };

/** How often a call may be tried. */
export const maxAttempts = (terms: RetryTerms): number =>
  terms.type === "never" ? 1 : Math.max(1, Number(terms.max_attempts));

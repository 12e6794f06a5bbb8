/** Verdicts on live calls under other code. */
import type { Recovery, RequestDifference } from "@pawl/sansio-core/driver";

export type Verdict =
  /** Makes all recorded requests, gets the answers, and waits for the open ones. */
  | { readonly type: "same"; readonly requests: number }
  /** As `same`, then makes these new requests. */
  | { readonly type: "goes_on"; readonly requests: number; readonly next: readonly string[] }
  | { readonly type: "completes"; readonly requests: number }
  /** Makes all recorded requests, then waits for something outside `ctx`. */
  | { readonly type: "waits_outside"; readonly requests: number; readonly isDiverged: boolean }
  | {
      readonly type: "new_effect" | "other_input";
      readonly position: number;
      readonly expected: string;
      readonly found: string;
      /** The input of the request, as recorded and now, if it is short. */
      readonly recorded?: string;
      readonly asked?: string;
      /** Both requests, and the fields of their inputs that differ. */
      readonly differs?: RequestDifference;
    }
  /** A recorded request is missing; `thrown` is the error if the body threw instead. */
  | {
      readonly type: "missing_effect";
      readonly position: number;
      readonly missing: readonly string[];
      readonly thrown?: string;
    }
  | { readonly type: "no_tool"; readonly toolId: string }
  | { readonly type: "args_refused"; readonly message: string }
  | { readonly type: "failed"; readonly message: string }
  /** The body does not run again. Its outcome is unknown if the owner is lost, or comes from outside. */
  | { readonly type: "not_rerun"; readonly recovery: Recovery }
  /** The body has not started, or restarts later as a new attempt. */
  | { readonly type: "not_started"; readonly phase: string; readonly isBegun: boolean }
  /** The body has ended: the call has its outcome, or waits for it from outside. */
  | { readonly type: "body_over"; readonly phase: string };

const bad: ReadonlySet<Verdict["type"]> = new Set([
  "new_effect",
  "other_input",
  "missing_effect",
  "no_tool",
  "args_refused",
  "failed",
]);

/** Tells whether the call would not continue as its log has it. */
export const isBad = (verdict: Verdict): boolean =>
  bad.has(verdict.type) || (verdict.type === "waits_outside" && verdict.isDiverged);

const requests = (count: number): string => `${count} recorded request${count === 1 ? "" : "s"}`;

type Other = Extract<Verdict, { readonly type: "new_effect" | "other_input" }>;

/** Puts a text into brackets, if there is one. */
const orNothing = (text: string | undefined): string => (text === undefined ? "" : ` (${text})`);

const newEffectWords = ({ position, expected, found, recorded, asked }: Other): string =>
  `new effect at request ${position}: found ${found}${orNothing(asked)}, expected ${expected}${orNothing(recorded)}`;

/** Shows the inputs if they are known and differ; otherwise the hashes. */
const otherInputWords = ({ position, expected, found, recorded, asked, differs }: Other): string => {
  const paths = (differs?.fields ?? []).map(({ path }) => path).filter((path) => path !== "");
  const where = paths.length === 0 ? "" : `; they differ at ${paths.join(", ")}`;
  const isTold = recorded !== undefined && asked !== undefined && recorded !== asked;
  const of = expected.replace(/ with input [0-9a-f]+$/, "");
  return isTold
    ? `other input at request ${position}: ${of} was recorded with ${recorded}, and is now requested with ${asked}${where}`
    : `other input at request ${position}: expected ${expected}, found ${found}${where}`;
};

type Missing = Extract<Verdict, { readonly type: "missing_effect" }>;

const missingWords = ({ position, missing, thrown }: Missing): string => {
  const isNotAsked = `${missing.join(", ")} was recorded, and is not requested any more`;
  return `missing effect after request ${position}: ${thrown === undefined ? "" : `it throws ${thrown}; `}${isNotAsked}`;
};

const notStartedWords = ({ phase, isBegun }: Extract<Verdict, { readonly type: "not_started" }>): string => {
  if (!isBegun) return `nothing to compare: its body has not started (${phase})`;
  return phase === "backing_off"
    ? `nothing to compare: its body starts a new attempt (${phase})`
    : `not compared: its body has started, and is not run again in this phase (${phase})`;
};

export const verdictWords = (verdict: Verdict): string => {
  switch (verdict.type) {
    case "same":
      return `same: it makes its ${requests(verdict.requests)}, and waits`;
    case "goes_on":
      return `same: it makes its ${requests(verdict.requests)}, then requests ${verdict.next.join(", ")}`;
    case "completes":
      return `same: it makes its ${requests(verdict.requests)}, then ends`;
    case "waits_outside":
      return verdict.isDiverged
        ? `waits outside ctx after ${requests(verdict.requests)}, although more are recorded`
        : `it makes its ${requests(verdict.requests)}, then waits for something outside ctx`;
    case "new_effect":
      return newEffectWords(verdict);
    case "other_input":
      return otherInputWords(verdict);
    case "missing_effect":
      return missingWords(verdict);
    case "no_tool":
      return `tool ${verdict.toolId} is missing: the call would wait for an executor`;
    case "args_refused":
      return `its arguments no longer fit: ${verdict.message}`;
    case "failed":
      return `it fails: ${verdict.message}`;
    case "not_rerun":
      return `its body is not run again (${verdict.recovery})`;
    case "not_started":
      return notStartedWords(verdict);
    case "body_over":
      return `nothing to compare: its body has ended (${verdict.phase})`;
  }
};

/** What becomes of a live call under other code. */
import type { Recovery } from "@pawl/sansio-core";

export type Verdict =
  /** It asks for all that is recorded, hears the answers, and waits for what is open. */
  | { readonly type: "same"; readonly requests: number }
  /** As `same`, and then it asks for these: as it would have gone on. */
  | { readonly type: "goes_on"; readonly requests: number; readonly next: readonly string[] }
  | { readonly type: "completes"; readonly requests: number }
  /** All that is recorded was asked for; then it waits for something that is not in `ctx`. */
  | { readonly type: "waits_outside"; readonly requests: number; readonly isDiverged: boolean }
  | {
      readonly type: "new_effect" | "other_input";
      readonly position: number;
      readonly expected: string;
      readonly found: string;
      /** What was asked for when it was recorded, and now; short, where that is at hand. */
      readonly recorded?: string;
      readonly asked?: string;
    }
  /** Recorded, and not asked for any more; where the body threw instead, what it threw. */
  | {
      readonly type: "missing_effect";
      readonly position: number;
      readonly missing: readonly string[];
      readonly thrown?: string;
    }
  | { readonly type: "no_tool"; readonly toolId: string }
  | { readonly type: "args_refused"; readonly message: string }
  | { readonly type: "failed"; readonly message: string }
  /** No body of it runs again: its outcome is unknown if its owner is lost, or comes from outside. */
  | { readonly type: "not_rerun"; readonly recovery: Recovery }
  /** Its body has not begun; or it has, and begins anew at another time. */
  | { readonly type: "not_started"; readonly phase: string; readonly isBegun: boolean }
  /** It has its outcome, or waits for it from outside: no body of it runs any more. */
  | { readonly type: "body_over"; readonly phase: string };

const bad: ReadonlySet<Verdict["type"]> = new Set([
  "new_effect",
  "other_input",
  "missing_effect",
  "no_tool",
  "args_refused",
  "failed",
]);

/** Whether a call would not go on as its log has it. */
export const isBad = (verdict: Verdict): boolean =>
  bad.has(verdict.type) || (verdict.type === "waits_outside" && verdict.isDiverged);

const requests = (count: number): string => `${count} recorded request${count === 1 ? "" : "s"}`;

type Other = Extract<Verdict, { readonly type: "new_effect" | "other_input" }>;

/** In brackets, where it is at hand. */
const orNothing = (text: string | undefined): string => (text === undefined ? "" : ` (${text})`);

const newEffectWords = ({ position, expected, found, recorded, asked }: Other): string =>
  `new effect at request ${position}: found ${found}${orNothing(asked)}, expected ${expected}${orNothing(recorded)}`;

/** The hashes are told only where the values are not at hand, or look the same so far as they are shown. */
const otherInputWords = ({ position, expected, found, recorded, asked }: Other): string => {
  const isTold = recorded !== undefined && asked !== undefined && recorded !== asked;
  const of = expected.replace(/ with input [0-9a-f]+$/, "");
  return isTold
    ? `other input at request ${position}: ${of} is recorded with ${recorded}, and asked for with ${asked}`
    : `other input at request ${position}: expected ${expected}, found ${found}`;
};

type Missing = Extract<Verdict, { readonly type: "missing_effect" }>;

const missingWords = ({ position, missing, thrown }: Missing): string => {
  const isNotAsked = `${missing.join(", ")} is recorded, and not asked for`;
  return `missing effect after request ${position}: ${thrown === undefined ? "" : `it throws ${thrown}; `}${isNotAsked}`;
};

const notStartedWords = ({ phase, isBegun }: Extract<Verdict, { readonly type: "not_started" }>): string => {
  if (!isBegun) return `nothing to compare: its body has not begun (${phase})`;
  return phase === "backing_off"
    ? `nothing to compare: its body begins a new attempt (${phase})`
    : `not compared: its body has begun, and is not run again as things stand (${phase})`;
};

export const verdictWords = (verdict: Verdict): string => {
  switch (verdict.type) {
    case "same":
      return `same: it makes its ${requests(verdict.requests)}, and waits`;
    case "goes_on":
      return `same: it makes its ${requests(verdict.requests)}, then asks for ${verdict.next.join(", ")}`;
    case "completes":
      return `same: it makes its ${requests(verdict.requests)}, then ends`;
    case "waits_outside":
      return verdict.isDiverged
        ? `waits outside ctx after ${requests(verdict.requests)}, and more are recorded`
        : `it makes its ${requests(verdict.requests)}, then waits for something outside ctx`;
    case "new_effect":
      return newEffectWords(verdict);
    case "other_input":
      return otherInputWords(verdict);
    case "missing_effect":
      return missingWords(verdict);
    case "no_tool":
      return `no tool ${verdict.toolId} is there: it would wait for an executor`;
    case "args_refused":
      return `its arguments no longer fit: ${verdict.message}`;
    case "failed":
      return `it fails: ${verdict.message}`;
    case "not_rerun":
      return `its body is not run again (${verdict.recovery})`;
    case "not_started":
      return notStartedWords(verdict);
    case "body_over":
      return `nothing to compare: no body of it runs any more (${verdict.phase})`;
  }
};

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
    }
  /** Recorded, and not asked for any more. */
  | { readonly type: "missing_effect"; readonly position: number; readonly missing: readonly string[] }
  | { readonly type: "no_tool"; readonly toolId: string }
  | { readonly type: "args_refused"; readonly message: string }
  | { readonly type: "failed"; readonly message: string }
  /** No body of it runs again: its outcome is unknown if its owner is lost, or comes from outside. */
  | { readonly type: "not_rerun"; readonly recovery: Recovery }
  /** Its body has not begun, or begins a new attempt. */
  | { readonly type: "not_started"; readonly phase: string };

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
      return `new effect at request ${verdict.position}: found ${verdict.found}, expected ${verdict.expected}`;
    case "other_input":
      return `other input at request ${verdict.position}: expected ${verdict.expected}, found ${verdict.found}`;
    case "missing_effect":
      return `missing effect after request ${verdict.position}: ${verdict.missing.join(", ")} is recorded, and not asked for`;
    case "no_tool":
      return `no tool ${verdict.toolId} is there: it would wait for an executor`;
    case "args_refused":
      return `its arguments no longer fit: ${verdict.message}`;
    case "failed":
      return `it fails: ${verdict.message}`;
    case "not_rerun":
      return `its body is not run again (${verdict.recovery})`;
    case "not_started":
      return `nothing to compare: its body has not begun (${verdict.phase})`;
  }
};

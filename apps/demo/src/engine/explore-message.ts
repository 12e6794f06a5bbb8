/** What a page and the worker that explores say to each other. */
import type { Care } from "./explore-scenario.ts";

/** A moment at which the process died, and what came of it. */
export interface Point {
  readonly n: number;
  readonly where: string;
  readonly harm: string | undefined;
  readonly isUnknown: boolean;
}

export type ToExplorer =
  | { readonly type: "crashes" | "orders"; readonly care: Care }
  /** The log of the run in which the process died at this moment. */
  | { readonly type: "log"; readonly care: Care; readonly dieAt: number };

export type FromExplorer =
  | { readonly type: "points"; readonly points: readonly Point[] }
  | { readonly type: "report"; readonly words: string; readonly runs: number; readonly harmed: number }
  | { readonly type: "log"; readonly name: string; readonly text: string }
  | { readonly type: "fault"; readonly message: string };

/** What a page and the worker of its long work say to each other. */
import type { Schedule, Task } from "@pawl/sansio-core";
import type { Line } from "./message.ts";

export type ToLong =
  | { readonly type: "open"; readonly session: string }
  /** A run begins, which nobody waits for. */
  | { readonly type: "run"; readonly title: string; readonly pages: number }
  | { readonly type: "cancel"; readonly task: string }
  /** The session is to be told in so many milliseconds. */
  | { readonly type: "remind"; readonly words: string; readonly inMs: number };

export interface LongView {
  readonly tasks: readonly Task[];
  readonly schedules: readonly Schedule[];
  /** The end of what each run has put out, by its task. */
  readonly outputs: { readonly [task: string]: string };
}

export type FromLong =
  /** This worker runs the session; until then another tab does. */
  | { readonly type: "writing" }
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  | { readonly type: "view"; readonly view: LongView }
  | { readonly type: "fault"; readonly message: string };

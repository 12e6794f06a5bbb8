/** The messages between the page and its workers, one pair of types for each worker. */
import { currentFormat, currentProtocol, headerLine } from "@pawl/sansio-core";
import type { Schedule, Task } from "@pawl/sansio-core/driver";
import type { TurnFrame } from "@pawl/runtime/driver";
import type { Json } from "@pawl/tool-value";
import type { Endpoint } from "../agent/endpoint.ts";
import type { Care } from "./explore-scenario.ts";
import type { SceneId } from "./tool.ts";

export interface Line {
  readonly seq: number;
  readonly line: string;
}

/** Returns the first line of a log, as the inspector expects it. */
export const headerOf = (scope: string): string =>
  headerLine({ format: currentFormat, protocol: currentProtocol, scope, epoch: 1, writer: "pawl demo", base: 0 });

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** The messages that every worker of a session sends. */
type FromWriter =
  /** This worker runs the session now; until then another tab does. */
  | { readonly type: "writing" }
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  | { readonly type: "fault"; readonly message: string };

export type Verb =
  /** Starts the agent, or continues it. */
  | { readonly type: "agent" }
  | { readonly type: "approve"; readonly call: string; readonly hash: string; readonly args?: Json }
  | { readonly type: "reject"; readonly call: string; readonly hash: string; readonly reason: string }
  | { readonly type: "call"; readonly request: string; readonly tool: string; readonly args: Json }
  | { readonly type: "cancel"; readonly request: string }
  /** Decides on a budget that is used up: one more answer, or the end. */
  | { readonly type: "budget"; readonly ask: number; readonly more: boolean };

export type ToEngine =
  | {
      readonly type: "open";
      readonly scene: SceneId;
      readonly session: string;
      /** The last line that the page has. */
      readonly after: number;
      readonly worker: string;
      readonly endpoint: Endpoint | undefined;
    }
  | { readonly type: "ask"; readonly id: number; readonly verb: Verb };

export type FromEngine =
  | FromWriter
  /** News of a turn, before it is on record. */
  | { readonly type: "said"; readonly frame: TurnFrame }
  | { readonly type: "answer"; readonly id: number; readonly value: Json }
  | { readonly type: "failed"; readonly id: number; readonly message: string };

export type ToLong =
  | { readonly type: "open"; readonly session: string }
  /** Starts a background run. */
  | { readonly type: "run"; readonly title: string; readonly pages: number }
  | { readonly type: "cancel"; readonly task: string }
  /** Schedules a text for the session, after a delay. */
  | { readonly type: "remind"; readonly words: string; readonly inMs: number };

export interface LongView {
  readonly tasks: readonly Task[];
  readonly schedules: readonly Schedule[];
  /** The end of each run's output, by task. */
  readonly outputs: { readonly [task: string]: string };
}

export type FromLong = FromWriter | { readonly type: "view"; readonly view: LongView };

export type ToMover =
  | {
      readonly type: "open";
      readonly session: string;
      readonly store: string;
      readonly url: string;
      readonly token: string;
    }
  | { readonly type: "walk" | "move" | "bringBack" | "follow" };

/** `gone`: the session has arrived at the host; `back`: it is here again. */
export type FromMover = FromWriter | { readonly type: "gone" | "back" };

/** A moment at which the process died, and the result. */
export interface Point {
  readonly n: number;
  readonly where: string;
  readonly harm: string | undefined;
  readonly isUnknown: boolean;
}

export type ToExplorer =
  | { readonly type: "crashes" | "orders"; readonly care: Care }
  /** Asks for the log of the run that died at this moment. */
  | { readonly type: "log"; readonly care: Care; readonly dieAt: number };

export type FromExplorer =
  | { readonly type: "points"; readonly points: readonly Point[] }
  | { readonly type: "report"; readonly words: string; readonly runs: number; readonly harmed: number }
  | { readonly type: "log"; readonly name: string; readonly text: string }
  | { readonly type: "fault"; readonly message: string };

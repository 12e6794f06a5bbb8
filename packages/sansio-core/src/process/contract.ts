/** What other concerns may tell a process, and what it asks of the world. */
import type { Json } from "@pawl/tool-value";
import type { EffectSpec } from "../call/effect-model.ts";
import type { CallRef } from "../kernel/ids.ts";
import type { Message, Outcome, Said } from "../message/message.ts";
import type { Reply } from "../request/model.ts";
import type { ProcessAwaitOutput, ProcessRow, ProcessState } from "./model.ts";

/** What a process hears. */
export type ProcessSignal =
  | {
      readonly type: "message.taken";
      readonly from: string;
      readonly message: Said;
      readonly invalid?: string;
      readonly known?: boolean;
    }
  | { readonly type: "message.heard"; readonly to: string; readonly message: Message; readonly outcome: Outcome }
  | { readonly type: "run.ended"; readonly replies: readonly Reply[] }
  | { readonly type: "tools.published" }
  | {
      readonly type: "process.emit";
      readonly call: CallRef;
      readonly key: string;
      readonly effect: Extract<EffectSpec, { readonly kind: "event" }>;
    }
  /** A body waits for a signal; and nobody does any more. */
  | { readonly type: "process.wait"; readonly key: string; readonly name: string; readonly ordinal: number }
  | { readonly type: "process.unwait"; readonly key: string }
  /** A background run is over with all that belongs to it. */
  | { readonly type: "process.finish"; readonly output: ProcessAwaitOutput };

/** What a process asks of the world. */
export type ProcessCommand =
  /** The tools of a captured environment are to be published in its process's scope. */
  | { readonly type: "env.load"; readonly process: string; readonly env_ref: string }
  /** Somebody else runs the process, as its registration says, and appends the event that ends it. */
  | { readonly type: "engine.run"; readonly process: string }
  | { readonly type: "engine.cancel"; readonly process: string }
  | {
      readonly type: "process.observe";
      readonly what: "registered" | "event" | "ended";
      readonly process: string;
      readonly sequence: number;
      readonly event_type?: string;
      readonly payload?: Json;
      readonly state?: ProcessState;
    };

/** Its rows in a state. */
export interface ProcessRows {
  /** Of the scope of a process. */
  readonly process: ProcessRow | undefined;
}

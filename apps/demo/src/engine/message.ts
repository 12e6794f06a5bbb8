/** What a page and the worker that its engine runs in say to each other. */
import type { Json } from "@pawl/tool-value";
import type { Endpoint } from "../agent/endpoint.ts";
import type { SceneId } from "./tool.ts";

export interface Line {
  readonly seq: number;
  readonly line: string;
}

export type Verb =
  /** The agent begins, or goes on. */
  | { readonly type: "agent" }
  | { readonly type: "approve"; readonly call: string; readonly hash: string; readonly args?: Json }
  | { readonly type: "reject"; readonly call: string; readonly hash: string; readonly reason: string }
  | { readonly type: "call"; readonly request: string; readonly tool: string; readonly args: Json }
  | { readonly type: "cancel"; readonly request: string };

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
  /** This worker runs the session; until then another tab does. */
  | { readonly type: "writing" }
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  | { readonly type: "answer"; readonly id: number; readonly value: Json }
  | { readonly type: "failed"; readonly id: number; readonly message: string }
  | { readonly type: "fault"; readonly message: string };

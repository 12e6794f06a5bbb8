/**
 * Models as a runtime asks them. A port asks a provider once, with no loop and no retries of its own: the core decides what
 * follows. Pieces go to `say` as they come; readers hear them at once, and the log in checkpoints.
 */
import type {
  AgentSpec,
  FailureClass,
  Finish,
  OutputForm,
  Piece,
  PromptMessage,
  Route,
  Usage,
} from "@pawl/sansio-core/driver";
import type { CommandOf } from "@pawl/sansio-core";
import type { AttachmentCreateMeta, AttachmentRef, Json } from "@pawl/tool-value";

export interface ModelCall {
  /** The turn, and the number of its model call. */
  readonly request: string;
  readonly n: number;
  readonly prompt: readonly PromptMessage[];
  readonly tools: AgentSpec["shown"];
  readonly toolChoice: Json;
  readonly settings: Json;
  readonly output?: OutputForm;
  readonly maxOutputTokens?: number;
  /** The text that the answer goes on from; it is the last message of the prompt as well. */
  readonly prefix?: string;
  /** Names the answer to the provider: a question under the same key is to be answered, and paid, once. */
  readonly key: string;
  readonly attempt: number;
  /** Aborts when nobody wants the answer any more. */
  readonly signal: AbortSignal;
  say(piece: Piece): void;
  /** Says how the provider names the answer that it makes. */
  identified(providerId: string): void;
  /** Reads the bytes of a file of the prompt. */
  bytes(ref: AttachmentRef): Promise<Uint8Array>;
  /** Keeps the bytes of a file that the model made, and returns what stands for them in the answer. */
  keep(bytes: Uint8Array, meta: AttachmentCreateMeta): Promise<AttachmentRef>;
}

/** An answer: the pieces that were not said, and what the provider says of the whole. */
export interface ModelAnswer {
  readonly pieces: readonly Piece[];
  readonly finish: Finish;
  readonly usage: Usage;
  readonly provider_id?: string;
  readonly model_id?: string;
  readonly meta?: { readonly [provider: string]: Json };
  readonly warnings?: readonly Json[];
}

export interface ModelPort {
  /** Settles once. */
  ask(call: ModelCall): Promise<ModelAnswer>;
  /** Returns the answer that the provider has stored; undefined where it has none. */
  fetch?(providerId: string, call: ModelCall): Promise<ModelAnswer | undefined>;
}

/** Thrown by a port: what became of the attempt. Anything else that it throws is of class `unknown`. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: FailureClass;
  readonly more: { readonly retryAfterMs?: number; readonly usage?: Usage; readonly provider_id?: string };

  constructor(kind: FailureClass, message: string, more: ModelError["more"] = {}) {
    super(message);
    this.kind = kind;
    this.more = more;
  }
}

/** An agent as a host defines it. Without `shown` models are shown its tools as the session's catalog has them. */
export type AgentDefinition = Omit<AgentSpec, "shown"> & Partial<Pick<AgentSpec, "shown">>;

/** The word of a host on a turn, before a model call or before its end. */
export type TurnVerdict = { readonly type: "go_on" } | { readonly type: "end"; readonly reason: string };

/** The part of a host that turns use. */
export interface TurnHost {
  /** Returns the port of a route; undefined where nobody here asks that model. */
  readonly models?: (route: Route) => ModelPort | undefined;
  readonly agents?: (name: string) => AgentDefinition | undefined | Promise<AgentDefinition | undefined>;
  readonly checkTurn?: (scope: string, request: string, at: "before_model" | "before_end") => Promise<TurnVerdict>;
  /** Decides on an attempt whose owner was lost, where its route asks for that. */
  readonly resolveModel?: (scope: string, key: string) => Promise<"again" | "give_up">;
  readonly observeTurn?: (scope: string, command: CommandOf<"turn.observe">) => void;
}

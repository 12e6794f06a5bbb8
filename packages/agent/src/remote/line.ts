/**
 * The words between a page that asks a model and the host that has its key: one question, as JSON, and lines of an answer, each
 * a JSON object. Lines are counted, so that a page whose connection broke goes on behind the last one that it has.
 */
import type { FailureClass, Finish, OutputForm, Piece, Usage } from "@pawl/sansio-core/driver";
import { turnCodecs } from "@pawl/sansio-core/driver";
import {
  type AttachmentCreateMeta,
  AttachmentCreateMeta as MetaCodec,
  type Codec,
  type Json,
  array,
  boolean,
  dict,
  json,
  named,
  optional,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export interface ModelQuestion {
  readonly model: ModelName;
  /** Names the answer: asked again under the same key by the same principal, it is the same answer. */
  readonly key: string;
  /** How many lines of the answer the page has. */
  readonly from: number;
  readonly request: string;
  readonly n: number;
  readonly attempt: number;
  readonly prompt: readonly Json[];
  readonly tools: readonly Json[];
  readonly toolChoice: Json;
  readonly settings: Json;
  readonly output?: OutputForm;
  readonly maxOutputTokens?: number;
  readonly prefix?: string;
  /** The bytes of the prompt's files, by their ids, in base64. */
  readonly files: { readonly [id: string]: string };
  /** The provider is to give the answer that it has stored under this name. */
  readonly fetch?: string;
}

const ModelName: Codec<ModelName> = record<ModelName>("a model", { provider: string, model: string });

export const ModelQuestion: Codec<ModelQuestion> = record<ModelQuestion>("a question to a model", {
  model: ModelName,
  key: string,
  from: u64,
  request: string,
  n: u64,
  attempt: u64,
  prompt: array(json),
  tools: array(json),
  toolChoice: named("tool_choice", json),
  settings: json,
  output: optional(turnCodecs.output),
  maxOutputTokens: named("max_output_tokens", optional(u64)),
  prefix: optional(text),
  files: dict(string),
  fetch: optional(string),
});

/** Nobody wants the answer of this key any more. */
export interface ModelStop {
  readonly stop: string;
}
export const ModelStop: Codec<ModelStop> = record<ModelStop>("a stop", { stop: string });

/** A line of an answer. The last one is `answer`, `nothing` or `failed`. */
export type Line =
  | { readonly type: "piece"; readonly piece: Piece }
  | { readonly type: "identified"; readonly id: string }
  /** A file that the model has made: it comes before the piece that names it. */
  | { readonly type: "file"; readonly bytes: string; readonly meta: AttachmentCreateMeta }
  | {
      readonly type: "answer";
      readonly pieces: readonly Piece[];
      readonly finish: Finish;
      readonly usage: Usage;
      readonly provider_id?: string;
      readonly model_id?: string;
      readonly meta?: { readonly [provider: string]: Json };
      readonly warnings?: readonly Json[];
    }
  /** The provider has no such answer stored. */
  | { readonly type: "nothing" }
  | {
      readonly type: "failed";
      readonly class: FailureClass;
      readonly message: string;
      readonly retry_after_ms?: number;
      readonly usage?: Usage;
      readonly provider_id?: string;
    }
  /** Says that the connection is alive. It is not counted. */
  | { readonly type: "alive"; readonly is: boolean };

const { piece, pieces, finish, usage, failureClass } = turnCodecs;

export const Line: Codec<Line> = tagged<Line, "type">("a line of an answer", "type", {
  piece: { piece },
  identified: { id: string },
  file: { bytes: string, meta: MetaCodec },
  answer: {
    pieces,
    finish,
    usage,
    provider_id: optional(string),
    model_id: optional(string),
    meta: optional(dict(json)),
    warnings: optional(array(json)),
  },
  nothing: {},
  failed: {
    class: failureClass,
    message: text,
    retry_after_ms: optional(u64),
    usage: optional(usage),
    provider_id: optional(string),
  },
  alive: { is: boolean },
});

export const isLast = ({ type }: Line): boolean => type === "answer" || type === "nothing" || type === "failed";

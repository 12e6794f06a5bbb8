/**
 * An agent: a name for a system text, routes to models, tools and limits. It is data on record: a turn keeps the version that
 * it began with. The state has of each version what decides; its texts and schemas are read from the event.
 */
import {
  type Codec,
  type Json,
  array,
  boolean,
  json,
  list,
  oneOf,
  optional,
  record,
  string,
  text,
  u32,
  u64,
} from "@pawl/tool-value";
import { type Limits, LimitsCodec } from "../kernel/limit.ts";

/** One way to ask: later routes of an agent are fallbacks. */
export interface Route {
  readonly provider: string;
  readonly model: string;
  readonly settings?: Json;
  readonly max_output_tokens?: number;
  readonly context_tokens?: number;
  /** Says if a lost attempt is made again, or if the host decides. */
  readonly recovery?: "again" | "ask";
  /** The provider stores answers, and gives them again. */
  readonly fetch?: boolean;
  /** The model goes on with a text of its own. */
  readonly continue?: boolean;
}

/** The form that an answer is to have: a JSON Schema. `repairs`: how often the model is told that an answer does not fit. */
export interface OutputForm {
  readonly schema: Json;
  readonly name?: string;
  readonly description?: string;
  readonly repairs?: number;
}

export interface Compaction {
  readonly at_percent?: number;
  readonly keep_groups?: number;
  readonly system?: string;
}

/** A tool as models are shown it. */
export interface ShownTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Json;
  readonly provider?: Json;
}

export interface AgentSpec {
  readonly system?: string;
  readonly routes: readonly Route[];
  /** Names; absent: all that a model is shown. */
  readonly tools?: readonly string[];
  readonly handoffs?: readonly string[];
  readonly shown: readonly ShownTool[];
  readonly tool_choice?: Json;
  readonly limits?: Limits;
  readonly output?: OutputForm;
  readonly compaction?: Compaction;
  readonly loop?: { readonly repeats: number };
}

/** The part of a version that the state keeps. */
export interface AgentRow {
  readonly name: string;
  /** The event that published it. */
  readonly seq: number;
  readonly hash: string;
  readonly routes: readonly Route[];
  /** The tools that it may call, by name. */
  readonly tools: readonly string[];
  readonly limits?: Limits;
  /** Answers are to have a form, and are repaired so often. */
  readonly repairs?: number;
  readonly compaction?: { readonly at_percent?: number; readonly keep_groups?: number };
  readonly repeats?: number;
}

export const defaultRepairs = 2;

const maybe = <K extends string, V>(key: K, value: V | undefined): { readonly [k in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [k in K]?: V };

const routeRow = (route: Route): Route => {
  const { settings: _, ...rest } = route;
  return rest;
};
const compactionRow = (compaction: Compaction): AgentRow["compaction"] => {
  const { system: _, ...rest } = compaction;
  return rest;
};

/** Keeps of a published agent what decides. Settings of routes are read from the event. */
export const agentRow = (name: string, seq: number, hash: string, spec: AgentSpec): AgentRow => ({
  name,
  seq,
  hash,
  routes: spec.routes.map(routeRow),
  tools: spec.tools ?? spec.shown.map((tool) => tool.name),
  ...maybe("limits", spec.limits),
  ...maybe("repairs", spec.output && (spec.output.repairs ?? defaultRepairs)),
  ...maybe("compaction", spec.compaction && compactionRow(spec.compaction)),
  ...maybe("repeats", spec.loop?.repeats),
});

// Codecs.

const RouteCodec: Codec<Route> = record<Route>("struct Route", {
  provider: string,
  model: string,
  settings: optional(json),
  max_output_tokens: optional(u64),
  context_tokens: optional(u64),
  recovery: optional<"again" | "ask">(oneOf("again or ask", "again", "ask")),
  fetch: optional(boolean),
  continue: optional(boolean),
});

/** Decodes and encodes the form that a turn asks its answer to have. */
export const OutputFormCodec: Codec<OutputForm> = record<OutputForm>("struct OutputForm", {
  schema: json,
  name: optional(text),
  description: optional(text),
  repairs: optional(u32),
});

const repeats = record<NonNullable<AgentSpec["loop"]>>("struct Loop", { repeats: u32 });

const ShownToolCodec: Codec<ShownTool> = record<ShownTool>("struct ShownTool", {
  name: string,
  description: optional(text),
  input_schema: json,
  provider: optional(json),
});

const CompactionCodec: Codec<Compaction> = record<Compaction>("struct Compaction", {
  at_percent: optional(u32),
  keep_groups: optional(u32),
  system: optional(text),
});

export const AgentSpecCodec: Codec<AgentSpec> = record<AgentSpec>("struct AgentSpec", {
  system: optional(text),
  routes: array(RouteCodec),
  tools: optional(array(string)),
  handoffs: optional(array(string)),
  shown: list(ShownToolCodec),
  tool_choice: optional(json),
  limits: optional(LimitsCodec),
  output: optional(OutputFormCodec),
  compaction: optional(CompactionCodec),
  loop: optional(repeats),
});

const CompactionRowCodec = record<NonNullable<AgentRow["compaction"]>>("struct CompactionRow", {
  at_percent: optional(u32),
  keep_groups: optional(u32),
});

export const AgentRowCodec: Codec<AgentRow> = record<AgentRow>("struct AgentRow", {
  name: string,
  seq: u64,
  hash: string,
  routes: array(RouteCodec),
  tools: array(string),
  limits: optional(LimitsCodec),
  repairs: optional(u32),
  compaction: optional(CompactionRowCodec),
  repeats: optional(u32),
});

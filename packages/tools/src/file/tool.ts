/** The frame of every file tool: it checks the context and the arguments, and turns errors into texts for the model. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { type ExecutionResult, internalError, success, toolError } from "@pawl/runtime";
import { isExecutionResult } from "@pawl/runtime/driver";
import { type BuiltinTool, isGiven, objectSchema, textOf } from "../tool.ts";
import { canonicalPath, displayPath } from "./path.ts";
import { FileError, type FileStore } from "./store.ts";

export const readonlyHints = { readonly: true, idempotent: true } as const;
export const workspaceClass = "session_workspace";

type Answer = JsonObject | ExecutionResult;

type Mendable = FileError["kind"];

/** Classifies plain errors of stores by their words. The first match counts. */
const wordsOfKinds: readonly (readonly [kind: Mendable, words: RegExp])[] = [
  ["readonly", /readonly/],
  ["is_directory", /is a directory/],
  ["not_directory", /not a directory/],
  ["not_empty", /not empty|recursive/],
  ["not_found", /not found/],
];

const kindOf = (message: string, mendable: readonly Mendable[]): Mendable | undefined => {
  if (mendable.includes("pattern")) return /regex|pattern/.test(message) ? "pattern" : undefined;
  const kind = wordsOfKinds.find(([, words]) => words.test(message))?.[0];
  return kind !== undefined && mendable.includes(kind) ? kind : undefined;
};

/** Returns the text of a store's error that the model may read, or undefined for an internal error. */
const readableText = (error: unknown, mendable: readonly Mendable[]): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  const kind = error instanceof FileError ? error.kind : kindOf(error.message, mendable);
  if (kind === undefined) return undefined;
  return kind === "pattern" ? `Invalid regex pattern: ${error.message}` : error.message;
};

export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Refusal";
  }
}

const resultOf = async (run: () => Promise<Answer>, mendable: readonly Mendable[]): Promise<ExecutionResult> => {
  try {
    const answer = await run();
    return isExecutionResult(answer) ? answer : success(answer);
  } catch (error) {
    if (error instanceof Refusal) return toolError(error.message);
    const text = readableText(error, mendable);
    return text === undefined ? internalError(error) : toolError(text);
  }
};

export interface FileTool<A> extends Omit<BuiltinTool, "execute" | "parameters" | "requiresContext"> {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** The kinds of plain errors whose text the model sees: those that it can do something about. */
  readonly mendable?: readonly Mendable[];
  /** Reads the arguments, before the store is used. */
  readonly read: (args: JsonObject) => A;
  readonly run: (args: A, files: FileStore) => Promise<Answer>;
}

export const fileTool = <A>({ properties, required, mendable = [], read, run, ...tool }: FileTool<A>): BuiltinTool => ({
  ...tool,
  parameters: objectSchema(properties, required),
  requiresContext: true,
  execute: (args, context) =>
    resultOf(async () => {
      if (context === undefined) {
        throw new Refusal(`${tool.name} requires context. This tool must be executed with session context.`);
      }
      const given = read(args);
      if (context.files === undefined) throw new Refusal("File system not available in this context");
      return run(given, context.files);
    }, mendable),
});

/** Returns a required argument; throws a Refusal if it is missing. */
export const required = (args: JsonObject, name: string): string => {
  const text = textOf(args[name]);
  if (isGiven(text)) return text;
  throw new Refusal(`Missing required parameter: ${name}`);
};

/** Reads a non-negative integer. A value beyond the safe range becomes the largest safe integer. */
export const countIn = (value: Json | undefined): number | undefined => {
  if (typeof value === "bigint") return value < 0n ? undefined : Number.MAX_SAFE_INTEGER;
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
};

export const displayForm = (path: string): string => displayPath(canonicalPath(path));

export interface Page {
  readonly offset: number;
  readonly limit: number;
}
const maxItems = 1000;

export const pageOf = (args: JsonObject): Page => {
  const limit = countIn(args["limit"]) ?? 200;
  if (limit === 0) throw new Refusal("limit must be greater than 0");
  return { offset: countIn(args["offset"]) ?? 0, limit: Math.min(limit, maxItems) };
};

export const pageProperties: JsonObject = {
  offset: { type: "integer", minimum: 0 },
  limit: { type: "integer", minimum: 1, description: `At most ${maxItems}.` },
};

export interface Cut {
  readonly reason: "size_cap" | "line_cap" | "item_cap";
  readonly returned: number;
  readonly total?: number;
  readonly next?: { readonly offset: number; readonly hint: string };
}

/** Describes how much of the result was left out. */
export const truncation = ({ reason, returned, total, next }: Cut, truncated: boolean): JsonObject => ({
  truncated,
  bytes_returned: returned,
  ...(total === undefined ? {} : { bytes_total: total }),
  ...(next === undefined ? {} : { next_offset: next.offset, resume_hint: next.hint }),
  reason,
});

/** What all file tools have in common: a place, a path, and errors that a model may read. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { type ExecutionResult, internalError, isExecutionResult, success, toolError } from "@pawl/runtime";
import { type BuiltinTool, isGiven, objectSchema, textOf } from "../tool.ts";
import { type Mendable, readableText } from "./failure.ts";
import { canonicalPath, displayPath } from "./path.ts";
import type { FileStore } from "./store.ts";

export const readers = { readonly: true, idempotent: true } as const;
export const workspaceClass = "session_workspace";

type Answer = JsonObject | ExecutionResult;

/** What a file tool says without a result. */
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
  /** Of what a store throws without a kind, what a model is told in its words. */
  readonly mendable?: readonly Mendable[];
  /** Looks at the arguments, before anything is asked of the store. */
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

/** An argument that has to be given. */
export const required = (args: JsonObject, name: string): string => {
  const text = textOf(args[name]);
  if (isGiven(text)) return text;
  throw new Refusal(`Missing required parameter: ${name}`);
};

/** A count of things, of which more than can be counted are as many as can be. */
export const whole = (value: Json | undefined): number | undefined => {
  if (typeof value === "bigint") return value < 0n ? undefined : Number.MAX_SAFE_INTEGER;
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
};

export const shown = (path: string): string => displayPath(canonicalPath(path));

export interface Page {
  readonly offset: number;
  readonly limit: number;
}
const mostItems = 1000;

export const pageOf = (args: JsonObject): Page => {
  const limit = whole(args["limit"]) ?? 200;
  if (limit === 0) throw new Refusal("limit must be greater than 0");
  return { offset: whole(args["offset"]) ?? 0, limit: Math.min(limit, mostItems) };
};

export const pageProperties: JsonObject = {
  offset: { type: "integer", minimum: 0 },
  limit: { type: "integer", minimum: 1, description: `${mostItems} at the most.` },
};

export interface Cut {
  readonly reason: "size_cap" | "line_cap" | "item_cap";
  readonly returned: number;
  readonly total?: number;
  readonly next?: { readonly offset: number; readonly hint: string };
}

/** What a reader says of how much it left out. */
export const truncation = ({ reason, returned, total, next }: Cut, truncated: boolean): JsonObject => ({
  truncated,
  bytes_returned: returned,
  ...(total === undefined ? {} : { bytes_total: total }),
  ...(next === undefined ? {} : { next_offset: next.offset, resume_hint: next.hint }),
  reason,
});

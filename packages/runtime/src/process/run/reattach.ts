/** Whether a run that lost its owner may be begun again, and with what. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { isObject } from "../../json-object.ts";
import type { RunTool } from "./host.ts";

export interface ReattachPlace {
  readonly files: boolean;
  readonly tasks: boolean;
  /** By default the registry of the session's own tools. */
  readonly resolve: (tool: string) => RunTool | undefined;
  readonly isWorkerFull: boolean;
  readonly isSessionFull: boolean;
}

export interface Reattach {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly signal: boolean;
}

const declined = (message: string): E.Either<string, never> => E.left(`Tool execution error: ${message}`);

const problemOfTool = (name: string, tool: RunTool | undefined): string | undefined => {
  if (tool === undefined) return `tool '${name}' not found in built-in registry; cannot re-attach`;
  if (!tool.hasExecutor) return `tool '${name}' does not support background execution; cannot re-attach`;
  const isSafe = tool.hints.idempotent === true || tool.hints.readonly === true;
  return isSafe ? undefined : `tool '${name}' is not idempotent or readonly; re-attach declined`;
};

export const workerDeferred = "worker background run limit reached; re-attach deferred";
const sessionDeferred = "session background run limit reached; re-attach deferred";

const fullness = ({ isWorkerFull, isSessionFull }: ReattachPlace): string | undefined =>
  isWorkerFull ? workerDeferred : isSessionFull ? sessionDeferred : undefined;

/** What is run again for a task, or why nothing is. What the task once said of its tool is not believed. */
export const decideReattach = (spec: Json, place: ReattachPlace): E.Either<string, Reattach> => {
  if (!place.files) return declined("file store not available; cannot re-attach background run");
  if (!place.tasks) return declined("task registry not available; cannot re-attach background run");
  const { tool, arguments: args = {}, signal_on_completion: signal } = isObject(spec) ? spec : {};
  if (typeof tool !== "string" || tool === "") {
    return declined("background_tool spec missing 'tool' field; cannot re-attach");
  }
  const problem = problemOfTool(tool, place.resolve(tool)) ?? fullness(place);
  return problem === undefined
    ? E.right({ tool, arguments: isObject(args) ? args : {}, signal: signal !== false })
    : declined(problem);
};

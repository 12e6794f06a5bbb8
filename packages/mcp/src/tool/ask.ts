/**
 * Questions of a durable tool to whoever called it over MCP: a form, a sample of the client's model, its roots. Each is a
 * question to a person (`ctx.approve`), so it is on record, survives restarts, and can be answered by other ways too.
 */
import type { CreateMessageRequest, ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/server";
import type { ToolContext } from "@pawl/runtime";
import { type Json, isObject } from "@pawl/tool-value";

/** The key by which the arguments of a question say that it is a request to an MCP client. */
export const askKey = "mcp.ask";
/** The key by which a decision brings a client's answer. */
export const answerKey = "mcp.answer";

/** A request to a client, as the question of a body holds it. */
export interface AskedRequest {
  /** The tool's own name for it, and the key under which the client finds it. */
  readonly name: string;
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: Json;
}

/** Reads a request to a client from the arguments of a question. */
export const askedRequest = (args: Json): AskedRequest | undefined => {
  const asked = isObject(args) ? args[askKey] : undefined;
  return isObject(asked) ? (asked as unknown as AskedRequest) : undefined;
};

/** Counts how often a body has asked under a name: a key is never used twice. */
const counts = new WeakMap<object, Map<string, number>>();

const keyOf = (context: ToolContext, name: string): string => {
  const counted = counts.get(context) ?? new Map<string, number>();
  counts.set(context, counted);
  const count = (counted.get(name) ?? 0) + 1;
  counted.set(name, count);
  return count === 1 ? name : `${name}#${count}`;
};

const ask = async (
  context: ToolContext,
  title: string,
  request: AskedRequest,
): Promise<{ readonly answer?: Json; readonly isRejected: boolean }> => {
  const decided = await context.approve({
    title,
    args: { [askKey]: { ...request, name: keyOf(context, request.name) } },
  });
  if (!decided.approved) return { isRejected: true };
  const { [answerKey]: answer } = decided.args as { readonly [answerKey]?: Json };
  return answer === undefined ? { isRejected: false } : { answer, isRejected: false };
};

/** Asks a person to fill in a form. `cancel`: somebody let the question pass without an answer. */
export const elicit = async (
  context: ToolContext,
  name: string,
  { message, requestedSchema }: Pick<ElicitRequestFormParams, "message" | "requestedSchema">,
): Promise<ElicitResult> => {
  const params = { message, requestedSchema } as unknown as Json;
  const { answer, isRejected } = await ask(context, message, { name, method: "elicitation/create", params });
  if (isRejected) return { action: "decline" };
  return answer === undefined ? { action: "cancel" } : (answer as unknown as ElicitResult);
};

/** Asks the model of the client. Returns undefined where nobody let it answer. */
export const sample = async (
  context: ToolContext,
  name: string,
  params: CreateMessageRequest["params"],
): Promise<Json | undefined> => {
  const request = { name, method: "sampling/createMessage", params: params as unknown as Json } as const;
  return (await ask(context, `${name}: a sample of the client's model`, request)).answer;
};

/** Asks the client for its roots. Returns undefined where it gives none away. */
export const listRoots = async (context: ToolContext, name: string): Promise<Json | undefined> =>
  (await ask(context, `${name}: the client's roots`, { name, method: "roots/list", params: {} })).answer;

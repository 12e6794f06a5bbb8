/**
 * Lists what a request waits for and its client may answer: approvals, questions of its tools, connections. Each is an input
 * request under a key, which stands for this question alone, also where the same call asks again.
 */
import {
  type ClientCapabilities,
  type InputRequest,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { PendingApproval, Session } from "@pawl/runtime";
import type { State } from "@pawl/sansio-core";
import { type Json, type JsonObject, isObject, stableHash, stringify } from "@pawl/tool-value";
import { answerKey, askedRequest } from "../tool/ask.ts";
import { answerProblem } from "./answer.ts";
import { forStringify } from "./encoding.ts";

/** A question that a client may answer. */
export interface InputQuestion {
  readonly key: string;
  readonly request: InputRequest;
  /** Says why an answer does not fit; undefined where it does. */
  readonly problem: (answer: Json) => string | undefined;
  /** Takes an answer that fits. */
  readonly answer: (answer: JsonObject, by: string) => Promise<void>;
}

const needed: { readonly [method: string]: keyof ClientCapabilities } = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Says whether a client has declared that it answers such requests. */
export const canAnswer = ({ request }: InputQuestion, capabilities: ClientCapabilities): boolean => {
  const name = needed[request.method];
  return name !== undefined && isObject(capabilities[name]);
};

const primitives = new Set(["string", "number", "integer", "boolean"]);

/** Returns the properties of a schema that a form can show, each with the value that it has now. */
const fieldsOf = (schema: Json | undefined, args: Json): JsonObject => {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(properties) || !isObject(args)) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      const type = isObject(property) ? property["type"] : undefined;
      if (typeof type !== "string" || !primitives.has(type)) return [];
      const { title, description } = property as JsonObject;
      const value = args[name];
      const said = {
        ...(typeof title === "string" && { title }),
        ...(typeof description === "string" && { description }),
      };
      return [[name, { type, ...said, ...(value === undefined || value === null ? {} : { default: value }) }]];
    }),
  );
};

const longestShown = 2000;

const shownArgs = (args: Json): string => {
  const text = stringify(args);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
};

const formOf = (message: string, properties: JsonObject, required: readonly string[] = []): InputRequest => {
  const requestedSchema = { type: "object", properties, ...(required.length === 0 ? {} : { required: [...required] }) };
  const params = { mode: "form", message, requestedSchema: forStringify(requestedSchema as Json) };
  return { method: "elicitation/create", params } as unknown as InputRequest;
};

/** Names a question. A call that asks for approval once more, as another run does, has another key. */
const keyOf = ({ calls }: State, { call, hash }: PendingApproval): string => {
  const row = calls.at(call as Parameters<typeof calls.at>[0]);
  const body = row !== undefined && "body" in row ? row.body : undefined;
  return `approval-${stableHash([call, hash, body?.attempt ?? 0, body?.run ?? 0]).slice(0, 20)}`;
};

/** Lays the fields of a form over the arguments; undefined where nothing was edited. */
const edited = (args: Json, content: Json | undefined): Json | undefined => {
  if (!isObject(args) || !isObject(content)) return undefined;
  const merged = { ...args, ...content };
  return stringify(merged) === stringify(args) ? undefined : merged;
};

const byName = (by: string, key: string) => ({ by, id: `mcp:${key}` });

const approvalQuestion = (
  state: State,
  wanted: PendingApproval,
  schemaOf: (tool: string) => Json | undefined,
): InputQuestion => {
  const { tool, label, args } = wanted;
  const key = keyOf(state, wanted);
  const isAsked = wanted.schema !== undefined || wanted.call.includes("/");
  const what = isAsked ? `${tool} asks: ${label}` : `${tool} wants to run`;
  const request = formOf(`${what}\n${shownArgs(args)}`, fieldsOf(wanted.schema ?? schemaOf(tool), args));
  const answer = async ({ action, content }: JsonObject, by: string): Promise<void> => {
    if (action !== "accept") return wanted.reject({ ...byName(by, key), reason: `${by} did not approve it` });
    const args2 = edited(args, content);
    return wanted.approve({ ...byName(by, key), ...(args2 === undefined ? {} : { args: args2 }) });
  };
  return { key, request, answer, problem: (given) => answerProblem(request, given) };
};

/** A question that a tool asks by `elicit`, `sample` or `listRoots`. */
const askedQuestion = (wanted: PendingApproval, asked: NonNullable<ReturnType<typeof askedRequest>>): InputQuestion => {
  const request = { method: asked.method, params: forStringify(asked.params) } as InputRequest;
  const answer = (given: JsonObject, by: string): Promise<void> =>
    wanted.approve({ ...byName(by, asked.name), args: { [answerKey]: given } });
  return { key: asked.name, request, answer, problem: (given) => answerProblem(request, given) };
};

const connectionPrefix = "connection:";

/** Lists the connections that calls of a request are parked for. */
const connectionQuestions = (session: Session, request: string): readonly InputQuestion[] =>
  session.state.calls.rows().flatMap((row) => {
    if (row.call.request !== request || row.phase !== "suspended") return [];
    const open = row.body.open.find(({ key }) => key.startsWith(connectionPrefix));
    if (open === undefined) return [];
    const provider = open.key.slice(connectionPrefix.length);
    const asked = formOf(`${row.tool} needs a connection to ${provider}: make it, and accept`, {});
    const answer = ({ action }: JsonObject, by: string): Promise<void> =>
      session.connect(
        row.call.ref,
        action === "accept"
          ? { status: "saved" }
          : { status: "refused", message: `${by} made no connection to ${provider}` },
        by,
      );
    const key = `connection-${stableHash([row.call.ref, open.seq]).slice(0, 20)}`;
    return [{ key, request: asked, answer, problem: (given) => answerProblem(asked, given) }];
  });

/** Lists what a request waits for that people, or the client itself, may answer: oldest first. */
export const questionsOf = async (
  session: Session,
  request: string,
  schemaOf: (tool: string) => Json | undefined,
): Promise<readonly InputQuestion[]> => {
  const wanted = await session.approvals(request);
  const asked = wanted.map((one) => {
    const own = askedRequest(one.args);
    return own === undefined ? approvalQuestion(session.state, one, schemaOf) : askedQuestion(one, own);
  });
  return [...asked, ...connectionQuestions(session, request)];
};

/** Returns questions as a client is asked them. */
export const requestsOf = (questions: readonly InputQuestion[]): { readonly [key: string]: InputRequest } =>
  Object.fromEntries(questions.map(({ key, request }) => [key, request]));

/** Reads the answers of a client. Throws if they are no map. */
export const answersIn = (given: unknown): ReadonlyMap<string, Json> => {
  if (given === undefined) return new Map();
  if (isObject(given as Json)) return new Map(Object.entries(given as JsonObject));
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "inputResponses: expected a map of answers by key");
};

/** Takes those answers that questions wait for and that fit. Returns what is wrong with the others. */
export const takeAnswers = async (
  questions: readonly InputQuestion[],
  answers: ReadonlyMap<string, Json>,
  by: string,
): Promise<{ readonly taken: readonly string[]; readonly problems: readonly string[] }> => {
  const taken: string[] = [];
  const problems: string[] = [];
  for (const { key, answer, problem } of questions) {
    const given = answers.get(key);
    if (given === undefined) continue;
    const wrong = problem(given);
    if (wrong !== undefined) problems.push(`inputResponses.${key}: ${wrong}`);
    else {
      await answer(given as JsonObject, by);
      taken.push(key);
    }
  }
  return { taken, problems };
};

/** Answers of clients to input requests, checked against what was asked before anything is recorded. */
import type { InputRequest } from "@modelcontextprotocol/server";
import type { JsonSchema } from "@pawl/runtime";
import { checkedNow } from "@pawl/runtime/driver";
import { type Json, isObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

const actions = ["accept", "decline", "cancel"];

const formProblem = (request: InputRequest, answer: Json): string | undefined => {
  if (!isObject(answer) || !actions.includes(answer["action"] as string))
    return `expected an answer with an action (${actions.join(", ")})`;
  const { action, content = {} } = answer;
  if (action !== "accept") return undefined;
  const { requestedSchema } = (request as unknown as { readonly params: { readonly requestedSchema?: Json } }).params;
  if (requestedSchema === undefined) return undefined;
  const checked = checkedNow(requestedSchema as unknown as JsonSchema, content, "content");
  return E.isLeft(checked) ? checked.left : undefined;
};

const sampleProblem = (answer: Json): string | undefined =>
  isObject(answer) && typeof answer["model"] === "string" && isObject(answer["content"])
    ? undefined
    : "expected a sampled message with its role, content and model";

const rootsProblem = (answer: Json): string | undefined =>
  isObject(answer) && Array.isArray(answer["roots"]) ? undefined : "expected a list of roots";

/** Says why an answer does not fit its request; undefined where it does. */
export const answerProblem = (request: InputRequest, answer: Json): string | undefined => {
  switch (request.method) {
    case "elicitation/create":
      return formProblem(request, answer);
    case "sampling/createMessage":
      return sampleProblem(answer);
    case "roots/list":
      return rootsProblem(answer);
  }
};

/** Attributes of spans as the semantic conventions of OpenTelemetry name them for generative AI. */
import { type Span, SpanStatusCode } from "@opentelemetry/api";
import type { Route, Usage } from "@pawl/sansio-core/driver";
import { type Json, type ToolCallOutput, stringify, valueForProjection } from "@pawl/tool-value";

export interface Attributes {
  readonly [name: string]: string | number | boolean | string[];
}

const given = (name: string, value: string | number | undefined): Attributes =>
  value === undefined ? {} : { [name]: value };

export const toolAttributes = (tool: string, callId: string): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": tool,
  "gen_ai.tool.type": "function",
  "gen_ai.tool.call.id": callId,
});

/** The arguments and the result of a tool, for whoever asks for content. */
export const toolContent = (args: Json, output: ToolCallOutput): Attributes => ({
  "gen_ai.tool.call.arguments": stringify(args),
  "gen_ai.tool.call.result": stringify(valueForProjection(output)),
});

/** Says how a call ended. */
export const describeOutcome = (span: Span, { outcome }: ToolCallOutput): void => {
  span.setAttribute("pawl.outcome", outcome.status);
  if (outcome.status !== "failure") return;
  span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.payload.code });
  span.setAttribute("error.type", outcome.payload.code);
};

export const agentAttributes = (conversation: string, agent: string | undefined): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.conversation.id": conversation,
  ...given("gen_ai.agent.name", agent),
});

export const chatAttributes = (conversation: string, route: Route | undefined): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.conversation.id": conversation,
  ...given("gen_ai.provider.name", route?.provider),
  ...given("gen_ai.request.model", route?.model),
  ...given("gen_ai.request.max_tokens", route?.max_output_tokens),
});

export const usageAttributes = (usage: Usage): Attributes => ({
  ...given("gen_ai.usage.input_tokens", usage.input_tokens),
  ...given("gen_ai.usage.output_tokens", usage.output_tokens),
  ...given("gen_ai.usage.cache_read.input_tokens", usage.cached_input_tokens),
  ...given("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
});

interface Answered {
  readonly model_id?: string;
  readonly provider_id?: string;
  readonly finish: { readonly reason: string };
  readonly usage: Usage;
}

export const answerAttributes = ({ model_id: model, provider_id: id, finish, usage }: Answered): Attributes => ({
  ...given("gen_ai.response.model", model),
  ...given("gen_ai.response.id", id),
  "gen_ai.response.finish_reasons": [finish.reason],
  ...usageAttributes(usage),
});

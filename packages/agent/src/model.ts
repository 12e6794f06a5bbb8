/** Models as agents name them: a provider, a model, and the port that asks it. Of several the later ones are fallbacks. */
import type { ModelPort } from "@pawl/runtime/driver";
import type { Route } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";

/** Says how a model is asked. It is on record with the agent, so it holds no keys of providers. */
export interface ModelOptions {
  /** Settings of the provider, such as a temperature. */
  readonly settings?: Json;
  readonly maxOutputTokens?: number;
  /** The size of its context: beyond 80 % of it an agent with `compaction` has its history summarized. */
  readonly contextTokens?: number;
  /** Decides for an attempt whose process died: it is made again, or the host is asked (`resolveModel`). */
  readonly recovery?: "again" | "ask";
  /** The provider stores answers, and gives one again by its id. */
  readonly fetch?: boolean;
  /** The model goes on from a text of its own. */
  readonly continues?: boolean;
}

/** One way to ask a model. */
export interface AgentModel extends ModelOptions {
  readonly provider: string;
  readonly model: string;
  readonly port: ModelPort;
}

/** Returns an object without the fields that are undefined. */
export const defined = <A extends object>(fields: A): { readonly [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof A]: Exclude<A[K], undefined>;
  };

/** Makes the route under which a model stands in the log. */
export const routeOf = (of: AgentModel): Route => ({
  provider: of.provider,
  model: of.model,
  ...(defined({
    settings: of.settings,
    max_output_tokens: of.maxOutputTokens,
    context_tokens: of.contextTokens,
    recovery: of.recovery,
    fetch: of.fetch,
    continue: of.continues,
  }) as Partial<Route>),
});

/** Names a model, as routes name it. */
export const modelKey = ({ provider, model }: Pick<Route, "provider" | "model">): string =>
  JSON.stringify([provider, model]);

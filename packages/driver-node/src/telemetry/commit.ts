/** Spans of commits: each append to the store is one, among the spans of the batches that it is for. */
import { type Context, type Link, ROOT_CONTEXT, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { Journal } from "@pawl/runtime";

/** Knows which batches a commit of a scope is for. */
export interface CommitContexts {
  readonly takeContexts: (scope: string) => readonly Context[];
}

/** Places a commit: below its batch, or beside those that share it. */
const placeOf = (contexts: readonly Context[]): { readonly parent: Context; readonly links: readonly Link[] } => {
  const [only, ...others] = contexts;
  if (only !== undefined && others.length === 0) return { parent: only, links: [] };
  const links = contexts.flatMap((one) => {
    const context = trace.getSpanContext(one);
    return context === undefined ? [] : [{ context }];
  });
  return { parent: ROOT_CONTEXT, links };
};

/** Makes a span of each commit of a journal. `spans`: those of its runtime, which the commits are placed among. */
export const tracedJournal = <A extends Journal>(journal: A, tracer: Tracer, spans?: CommitContexts): A => ({
  ...journal,
  appendAll: async (appends) => {
    const events = appends.reduce((sum, { lines }) => sum + lines.length, 0);
    const { parent, links } = placeOf(appends.flatMap(({ scope }) => spans?.takeContexts(scope) ?? []));
    const attributes = { "pawl.scopes": appends.length, "pawl.events": events };
    const span = tracer.startSpan("pawl.commit", { attributes, links: [...links] }, parent);
    try {
      const results = await journal.appendAll(appends);
      const refused = results.find(({ type }) => type !== "ok");
      if (refused !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: refused.type });
      return results;
    } catch (thrown) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: "failed" });
      throw thrown;
    } finally {
      span.end();
    }
  },
});

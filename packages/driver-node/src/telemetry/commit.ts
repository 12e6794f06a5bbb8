/** A span for each commit of a store: how many scopes share it, and how many events it makes durable. */
import type { Journal } from "@pawl/runtime";
import { SpanStatusCode, type Tracer } from "@opentelemetry/api";

export const tracedJournal = <A extends Journal>(journal: A, tracer: Tracer): A => ({
  ...journal,
  appendAll: async (appends) => {
    const events = appends.reduce((sum, { lines }) => sum + lines.length, 0);
    const span = tracer.startSpan("pawl.commit", {
      attributes: { "pawl.scopes": appends.length, "pawl.events": events },
    });
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

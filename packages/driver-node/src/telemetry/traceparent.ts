/** The context of a span as one line of text, in the form of the W3C's trace context. */
import { type Context, ROOT_CONTEXT, type Span, TraceFlags, isSpanContextValid, trace } from "@opentelemetry/api";

const traceparentForm = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

/** Parses a traceparent; the root where it is none. */
export const parentOf = (traceparent: string | undefined): Context => {
  const { traceId = "", spanId = "", flags = "0" } = traceparentForm.exec(traceparent ?? "")?.groups ?? {};
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
};

/** Writes the context of a span; undefined for a span that is not recorded. */
export const traceparentOf = (span: Span): string | undefined => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  if (!isSpanContextValid(span.spanContext())) return undefined;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
};

/** The classes of what models of the AI SDK throw. An error of its HTTP calls says its status; any other is of no known class. */
import { ModelError } from "@pawl/runtime/driver";
import type { FailureClass } from "@pawl/sansio-core/driver";
import { type Fields, fieldsOf, numberIn, textIn } from "./shape.ts";

/** Texts by which providers say that a prompt is larger than the model's context. */
const tooLong =
  /context_length_exceeded|context window|maximum context length|prompt is too long|input (?:length|is) (?:too long|exceeds)|exceeds the maximum number of (?:input )?tokens/iu;
/** Texts by which they say that nothing is left to pay with. */
const exhausted = /insufficient_quota|billing|credit balance is too low|payment required/iu;

const ofStatus = (status: number, said: string): FailureClass => {
  if (status === 413 || (status >= 400 && status < 500 && tooLong.test(said))) return "context_too_long";
  if (status === 402 || (status < 500 && exhausted.test(said))) return "quota";
  if (status === 429) return "rate_limit";
  if (status === 503 || status === 529) return "overloaded";
  if (status === 408) return "timeout";
  if (status === 401 || status === 403) return "auth";
  return status >= 500 ? "provider" : "invalid_request";
};

/** Reads how long to wait: in milliseconds, in seconds, or until a date. */
const retryAfterOf = (headers: Fields, now: number): number | undefined => {
  const ms = textIn(headers["retry-after-ms"]);
  if (ms !== undefined && Number.isFinite(Number(ms))) return Math.max(0, Number(ms));
  const said = textIn(headers["retry-after"]);
  if (said === undefined) return undefined;
  if (Number.isFinite(Number(said))) return Math.max(0, Number(said) * 1000);
  const date = Date.parse(said);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};

const isApiCall = (thrown: unknown): boolean => {
  const { name, url } = fieldsOf(thrown);
  return name === "AI_APICallError" || (textIn(url) !== undefined && "statusCode" in fieldsOf(thrown));
};

/** Returns the failure of an attempt that threw. */
export const failureOf = (thrown: unknown, now: number): ModelError => {
  if (thrown instanceof ModelError) return thrown;
  const fields = fieldsOf(thrown);
  const message = thrown instanceof Error ? thrown.message : (textIn(fields["message"]) ?? String(thrown));
  if (!isApiCall(thrown)) {
    const isNetwork = thrown instanceof TypeError && /fetch failed|network/iu.test(message);
    return new ModelError(isNetwork ? "transport" : "unknown", message);
  }
  const status = numberIn(fields["statusCode"]);
  if (status === undefined) return new ModelError("transport", message);
  const retryAfterMs = retryAfterOf(fieldsOf(fields["responseHeaders"]), now);
  const kind = ofStatus(status, `${message} ${textIn(fields["responseBody"]) ?? ""}`);
  return new ModelError(kind, `${message} (status ${status})`, retryAfterMs === undefined ? {} : { retryAfterMs });
};

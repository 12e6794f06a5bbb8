/** Why a page was not fetched, in words that a model may read. */
export class WebFailure extends Error {
  override readonly name = "WebFailure";
}

const unreachable: ReadonlySet<unknown> = new Set(
  "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL ETIMEDOUT".split(" "),
);

const brokenOff: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"]);

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error ? (thrown as { readonly code?: unknown }).code : undefined;

/** What a request without an answer failed of. An error without a code is none of the network's. */
export const failureOf = (thrown: unknown): unknown => {
  const code = codeOf(thrown);
  if (!(thrown instanceof Error) || typeof code !== "string") return thrown;
  if (unreachable.has(code)) return new WebFailure("Failed to connect to server", { cause: thrown });
  const why = brokenOff.has(code) ? "the server broke the connection off before it answered" : thrown.message;
  return new WebFailure(`Request failed: ${why}`, { cause: thrown });
};

/** The same for a body that broke off, or does not unpack. */
export const bodyFailureOf = (thrown: unknown): unknown => {
  const code = codeOf(thrown);
  if (!(thrown instanceof Error) || typeof code !== "string") return thrown;
  const why = brokenOff.has(code) ? "the server broke the connection off before the end of the body" : thrown.message;
  return new WebFailure(`Fetch error: ${why}`, { cause: thrown });
};

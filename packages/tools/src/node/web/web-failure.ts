/** Failures of a fetch, as texts that a model may read. */
export class WebFailure extends Error {
  override readonly name = "WebFailure";
}

const unreachable: ReadonlySet<unknown> = new Set(
  "ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL ETIMEDOUT".split(" "),
);

const brokenOff: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"]);

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error ? (thrown as { readonly code?: unknown }).code : undefined;

/** Describes the error of a request without an answer. An error without a code is not the network's, and stays as it is. */
export const failureOf = (thrown: unknown): unknown => {
  const code = codeOf(thrown);
  if (!(thrown instanceof Error) || typeof code !== "string") return thrown;
  if (unreachable.has(code)) return new WebFailure("Failed to connect to server", { cause: thrown });
  const reason = brokenOff.has(code) ? "the server closed the connection before it answered" : thrown.message;
  return new WebFailure(`Request failed: ${reason}`, { cause: thrown });
};

/** Describes the error of a body that ended early or cannot be decompressed. */
export const bodyFailureOf = (thrown: unknown): unknown => {
  const code = codeOf(thrown);
  if (!(thrown instanceof Error) || typeof code !== "string") return thrown;
  const reason = brokenOff.has(code) ? "the server closed the connection before the end of the body" : thrown.message;
  return new WebFailure(`Fetch error: ${reason}`, { cause: thrown });
};

/** An error that a client's promise ends in. Codes are stable. */
export class HostRefused extends Error {
  override readonly name = "HostRefused";
  readonly code: string;
  /** It may succeed later. */
  readonly retryAfterMs: number | undefined;
  constructor(code: string, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

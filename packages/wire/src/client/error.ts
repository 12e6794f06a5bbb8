import type { HostError } from "../frame/host-frame.ts";

/** An error that a client's promise ends in. Codes are stable. */
export class HostRefused extends Error {
  override readonly name = "HostRefused";
  readonly code: string;
  /** It may succeed later. */
  readonly retryAfterMs: number | undefined;
  /** Where the scope lives instead. */
  readonly address: string | undefined;
  constructor(code: string, message: string, retryAfterMs?: number, address?: string) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.address = address;
  }
}

export const refusalOf = ({ code, message, retry_after_ms: retryAfterMs, address }: HostError): HostRefused =>
  new HostRefused(code, message, retryAfterMs, address);

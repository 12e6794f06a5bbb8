/** The error that the promises of a client reject with. */
import type { HostError, HostFrame } from "../frame/host-frame.ts";

/** A refusal by the host or the client. Codes are stable; `docs/errors.md` lists them. */
export class HostRefused extends Error {
  override readonly name = "HostRefused";
  readonly code: string;
  /** Set if the same question may succeed after this pause. */
  readonly retryAfterMs: number | undefined;
  /** The address of the host that the scope lives with. */
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

export const unexpected = (frame: HostFrame, wanted: string): HostRefused =>
  new HostRefused("unexpected_answer", `expected ${wanted}, found ${frame.type}`);

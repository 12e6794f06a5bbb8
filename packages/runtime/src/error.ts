/** Errors that tool authors and hosts meet. Codes are stable. */

/** What a durable effect reports to the body that asked for it: a step's own error, or why there is no answer. */
export class EffectError extends Error {
  override readonly name = "EffectError";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown by a tool: its message is shown to the model. Anything else that a tool throws is not. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** The scope was lost while an answer was under way: whether it happened is found out by asking again. */
export class ScopeLost extends Error {
  override readonly name = "ScopeLost";
  readonly code = "scope_lost";
  readonly retryable = true;
}

/** A host's request that does not fit. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The scope lives with another instance, whose lease holds: ask there, or again when the lease has run out. */
export class OwnedElsewhere extends Error {
  override readonly name = "OwnedElsewhere";
  readonly code = "owned_by";
  readonly retryable = true;
  readonly instance: string;
  readonly address: string | undefined;
  constructor(scope: string, instance: string, address?: string) {
    super(`scope ${scope} lives with ${instance}${address === undefined ? "" : ` at ${address}`}`);
    this.instance = instance;
    this.address = address;
  }
}

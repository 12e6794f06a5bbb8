/** Errors that tool authors and hosts meet. Codes are stable. */
import { currentProtocol } from "@pawl/sansio-core";
import type { EffectResult } from "@pawl/sansio-core/driver";

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

/** A cursor that the log has not come to: it is of a store that this one was not. */
export const aheadOf = (scope: string, end: number, cursor: number): Refused =>
  new Refused("cursor_ahead", `the log of ${scope} ends at ${end}, the cursor is ${cursor}`);

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

/** More than the runtime takes on at a time: nothing was recorded, and the same may fit later. */
export class Overloaded extends Error {
  override readonly name = "Overloaded";
  readonly code = "overloaded";
  readonly retryable = true;
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number) {
    super(`${message}: ask again in ${retryAfterMs} ms`);
    this.retryAfterMs = retryAfterMs;
  }
}

export const newerProtocol = (scope: string, protocol: number): Refused => {
  const known = `this core knows ${currentProtocol}: update it first`;
  return new Refused("newer_protocol", `scope ${scope} is of protocol ${protocol}, ${known}`);
};

/** The scope lives with another instance, whose lease holds: ask there, or again when the lease has run out. */
export class OwnedElsewhere extends Error {
  override readonly name = "OwnedElsewhere";
  readonly code = "owned_by";
  readonly retryable = true;
  readonly instance: string;
  readonly address: string | undefined;
  constructor(scope: string, instance: string, address?: string) {
    const where = address === undefined ? instance : `${instance} at ${address}`;
    super(`scope ${scope} lives with ${where}, which is alive: ask there, or end it`);
    this.instance = instance;
    this.address = address;
  }
}

/** The scope is on its way to another host, and nobody knows yet whether it has arrived: ask again. */
export class ScopeMoving extends Error {
  override readonly name = "ScopeMoving";
  readonly code = "scope_is_moving";
  readonly retryable = true;
  readonly to: string;
  constructor(scope: string, to: string, why?: string) {
    super(`scope ${scope} is moving to ${to}${why === undefined ? "" : `: ${why}`}`);
    this.to = to;
  }
}

/** The scope lives elsewhere now, and this copy is read-only for ever. */
export class ScopeMoved extends Error {
  override readonly name = "ScopeMoved";
  readonly code = "moved";
  readonly to: string;
  constructor(scope: string, to: string) {
    super(`scope ${scope} has moved to ${to}`);
    this.to = to;
  }
}

/** Where something was thrown, as far as it says. */
export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

/** What was thrown says of itself, whatever it is. */
export const textOf = (thrown: unknown): string => {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown).toWellFormed();
  } catch {
    return "something was thrown that has no text";
  }
};

/** What a program handed in, as a message names it: a text is told from a number. */
export const shownOf = (found: unknown): string => (typeof found === "string" ? JSON.stringify(found) : String(found));

/** What was thrown, as an effect's end; the code is its own where it is of a kind whose code counts. */
export const failureOf = (
  thrown: unknown,
  otherwise: string,
  kind: abstract new (...args: never[]) => Error = Error,
): EffectResult => {
  const isCoded = thrown instanceof kind && "code" in thrown && typeof thrown.code === "string";
  const code = isCoded ? (thrown.code as string).toWellFormed() : otherwise;
  return { status: "err", error: { code, message: textOf(thrown) } };
};

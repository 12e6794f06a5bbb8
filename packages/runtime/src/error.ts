/** Errors that tool authors and hosts meet. Codes are stable. */
import type { Rejection } from "@pawl/sansio-core";
import {
  type EffectResult,
  type ProtocolRule,
  type StepError,
  missingRule,
  newestProtocol,
} from "@pawl/sansio-core/driver";

/** Thrown into a body by a durable effect: the step's own error, or the reason that it has no answer. */
export class EffectError extends Error {
  override readonly name = "EffectError";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown by a tool: the model sees its message. Messages of other errors are hidden from models. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Makes the refusal of a cursor beyond the end of the log, which is from another store. */
export const aheadOf = (scope: string, end: number, cursor: number): Refused =>
  new Refused("cursor_ahead", `the log of ${scope} ends at ${end}, the cursor is ${cursor}`);

/** The instance lost the scope before the answer. Ask again to find out whether it happened. */
export class ScopeLost extends Error {
  override readonly name = "ScopeLost";
  readonly code = "scope_lost";
  readonly retryable = true;
}

/** The runtime refuses a request; `code` names the reason. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The runtime has more work than its bounds allow. Nothing was recorded; the same request may succeed later. */
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
  const wanted = `install the release of pawl that brought protocol ${protocol}, or a later one, and open it with that`;
  const message = `scope ${scope} is of protocol ${protocol}, and this pawl knows protocols up to ${newestProtocol}`;
  return new Refused("newer_protocol", `${message}: ${wanted}. Nothing was claimed or changed`);
};

/** The core refuses the opening. That is no race: whoever tries again at once is refused again. */
export const openingRefused = (scope: string, { code, message }: Rejection): Refused =>
  new Refused(code, `scope ${scope} cannot be opened: ${message}`);

/** Throws where a body asks for what the protocol of its scope does not have. */
export const requireRule = (protocol: number, rule: ProtocolRule, what: string): void => {
  const missing = missingRule(protocol, rule, what);
  if (missing !== undefined) throw new EffectError(missing.code, missing.message);
};

/** Another instance, whose lease holds, owns the scope. Ask there, or again after the lease has run out. */
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

/** The scope is moving to another host, and may have arrived or not. Ask again. */
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

/** The scope has moved to another host. This copy is read-only for ever. */
export class ScopeMoved extends Error {
  override readonly name = "ScopeMoved";
  readonly code = "moved";
  readonly to: string;
  constructor(scope: string, to: string) {
    super(`scope ${scope} has moved to ${to}`);
    this.to = to;
  }
}

/**
 * Returns true where another host has the scope, or takes it just now, or where this runtime closes. Hosts that share a store
 * race for scopes, and work that is under way races with a close: one of them comes second, and nothing is wrong then.
 */
export const isRace = (thrown: unknown): boolean =>
  [OwnedElsewhere, ScopeMoved, ScopeMoving, ScopeLost].some((kind) => thrown instanceof kind) ||
  (thrown instanceof Refused && thrown.code === "closing");

/** Writes a value that is no error as a short text: an object as JSON, and never as `[object Object]`. */
const written = (found: unknown): string => {
  if (typeof found !== "object" || found === null) return String(found);
  try {
    const json = JSON.stringify(found, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part)) ?? "";
    return json.length > longestWritten ? `${json.slice(0, longestWritten)}…` : json;
  } catch {
    return `an object with ${Object.keys(found).slice(0, 10).join(", ")}`; // A cycle, or a getter that throws.
  }
};
const longestWritten = 500;

/** Returns the stack of an error, or its text if it has none. */
export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : textOf(thrown);

/** Returns the message of anything thrown. */
export const textOf = (thrown: unknown): string => {
  try {
    return (thrown instanceof Error ? thrown.message : written(thrown)).toWellFormed();
  } catch {
    return "something was thrown that has no text";
  }
};

/** Returns what was thrown if it is an error, and otherwise an error with its text. */
export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(textOf(thrown), { cause: thrown });

/** Shows a value in a message; texts have quotes, so that `"1"` differs from `1`. */
export const shownOf = (found: unknown): string => (typeof found === "string" ? JSON.stringify(found) : textOf(found));

/** Turns a thrown value into the error of an effect. An error of `kind` keeps its code; others get `otherwise`. */
export const effectErrorOf = (
  thrown: unknown,
  otherwise: string,
  kind: abstract new (...args: never[]) => Error = Error,
): StepError => {
  const isCoded = thrown instanceof kind && "code" in thrown && typeof thrown.code === "string";
  const code = isCoded ? (thrown.code as string).toWellFormed() : otherwise;
  return { code, message: textOf(thrown) };
};

/** Turns a thrown value into the result of an effect. */
export const failureOf = (...of: Parameters<typeof effectErrorOf>): EffectResult => ({
  status: "err",
  error: effectErrorOf(...of),
});

/** Makes the refusal of an option. */
export const refusedOption = (message: string): Refused => new Refused("invalid_option", message);

/** Makes the refusal of an option whose number is out of range. */
export const wrongNumber = (name: string, found: unknown, least = "from"): Refused =>
  refusedOption(`\`${name}\`: expected a number ${least} 0, found ${shownOf(found)}`);

/** Finds the first unknown field of an object, and returns the message about it. */
export const unknownKeyIn = (at: string, given: object, known: object): string | undefined => {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      return `\`${at}${name}\` is no option: expected some of ${Object.keys(known).join(", ")}`;
  return undefined;
};

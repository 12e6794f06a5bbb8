/** Holds what the parts of a server share: the runtime, its settings, and the tokens and watches made of them. */
import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Overloaded, OwnedElsewhere, Refused, type Runtime, ScopeLost, ScopeMoved, ScopeMoving } from "@pawl/runtime";
import { entryOf, errorOf } from "@pawl/runtime/driver";
import type { AttachmentRef, Json } from "@pawl/tool-value";
import type { ContentPort } from "./content.ts";
import { type Caller, type CallerRight, type ServerSettings, missingRight } from "./options.ts";
import type { SignedTokens } from "./signed-token.ts";
import type { Watches } from "./watch.ts";

export interface ServerPort {
  readonly runtime: Runtime;
  readonly settings: ServerSettings;
  readonly tokens: SignedTokens;
  readonly watches: Watches;
}

/** The sender of a request, and what it has declared. */
export interface Client {
  readonly caller: Caller;
  readonly capabilities: ClientCapabilities;
  /** The client has declared the tasks extension. */
  readonly hasTasks: boolean;
  /** The client speaks 2026-07-28 or later. */
  readonly isModern: boolean;
}

/** A request of a session, as tokens name it. */
export interface RequestPlace {
  readonly session: string;
  readonly request: string;
  readonly tool: string;
}

/** The longest time for which nothing but a retry helps: a scope that changes hands. */
export const retryMs = 100;

const serverError = -32_000;

/** Returns the JSON-RPC error of what was thrown; what nobody need be told is logged. */
export const protocolErrorOf = ({ log }: ServerSettings, thrown: unknown): ProtocolError => {
  if (thrown instanceof ProtocolError) return thrown;
  if (thrown instanceof Overloaded)
    return new ProtocolError(serverError, thrown.message, { code: thrown.code, retryAfterMs: thrown.retryAfterMs });
  if (thrown instanceof OwnedElsewhere || thrown instanceof ScopeMoved || thrown instanceof ScopeMoving)
    return new ProtocolError(serverError, thrown.message, { code: thrown.code, retryAfterMs: retryMs });
  if (thrown instanceof ScopeLost)
    return new ProtocolError(serverError, thrown.message, { code: thrown.code, retryAfterMs: retryMs });
  if (thrown instanceof Refused)
    return new ProtocolError(ProtocolErrorCode.InvalidParams, thrown.message, { code: thrown.code });
  log?.(entryOf("host.internal_error", {}, errorOf(thrown)));
  return new ProtocolError(ProtocolErrorCode.InternalError, "the server failed to answer: its log says why");
};

/**
 * Says that the end of a request was told. Nobody waits for that: where it is lost the end stays in the state of its session,
 * and is told again.
 */
export const acknowledge = ({ runtime, settings }: ServerPort, { session, request }: RequestPlace): void => {
  const told = runtime.session(session).then((live) => live.acknowledge(request));
  told.catch((thrown: unknown) => settings.log?.(entryOf("host.internal_error", {}, errorOf(thrown))));
};

const forbidden = (message: string): ProtocolError =>
  new ProtocolError(serverError, message, { code: "permission_denied" });

/** Throws unless a caller has a right in a session. */
export const admit = (caller: Caller, right: CallerRight, session: string): void => {
  const missing = missingRight(caller, right, `session:${session}`);
  if (missing !== undefined) throw forbidden(missing);
};

/** Says whether a caller may be asked what its calls wait for. */
export const mayApprove = (caller: Caller, session: string): boolean =>
  missingRight(caller, "approve", `session:${session}`) === undefined;

/** The scheme of links to attachments. */
export const attachmentScheme = "pawl-attachment:";

/** Makes content for a caller: links to attachments are signed for it. */
export const contentPort = ({ runtime, tokens }: ServerPort, { by }: Caller): ContentPort => ({
  runtime,
  uriOf: ({ id, media_type: media }: AttachmentRef) =>
    `${attachmentScheme}${tokens.sign("attachment", by, [id, media.kind === "image" ? `image/${media.type}` : media.type])}`,
});

/** Finds the input schema of a tool by its name. */
export const schemaOf =
  ({ registry }: Runtime) =>
  (tool: string): Json | undefined =>
    registry.named(tool)?.contract()?.input_schema;

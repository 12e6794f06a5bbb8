/** The registration of a process: built from what a body or host says, checked, and then hashed. */
import type { State } from "@pawl/sansio-core";
import {
  type CausalRef,
  type ProcessEventType,
  type ProcessIdentity,
  type ProcessInput,
  type SessionScope,
  checkRegistration,
  envRef,
  identityOf,
  ProcessRegistration,
  startedByProcess,
  startedBySession,
} from "@pawl/sansio-core/driver";
import { describe, jsonFromJs, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";
import type { ProcessApi } from "../body/facet/facet.ts";

export interface ProcessStart {
  readonly id: string;
  readonly input: ProcessInput;
  /** Defaults to the identity that the input implies. */
  readonly identity?: ProcessIdentity;
  readonly eventTypes?: readonly ProcessEventType[];
  /** Defaults to the captured environment of the call, if the input needs one. */
  readonly envRef?: string;
}

const refused = (message: string): E.Either<EffectError, never> => E.left(new EffectError("process_refused", message));

const needsEnv = ({ type }: ProcessInput): boolean => type === "tool_call" || type === "engine";

/** Decodes and checks a registration that comes from outside. */
export const readRegistration = (said: object): E.Either<EffectError, ProcessRegistration> => {
  const json = jsonFromJs(said);
  if (E.isLeft(json)) return refused(describe(json.left));
  const registration = read(ProcessRegistration, json.right);
  if (E.isLeft(registration)) return refused(describe(registration.left));
  const checked = checkRegistration(registration.right);
  return E.isLeft(checked) ? refused(checked.left.message) : checked;
};

/** Names the environment in which a process started here runs. */
export const capturedEnv = ({ environmentSpec }: Pick<ProcessApi, "environmentSpec">): string =>
  envRef(environmentSpec());

const sessionPrefix = "session:";

/** Returns the session in whose name the bodies of a scope hold handles. A process holds none. */
export const holderOf = ({ scope }: State): SessionScope | undefined =>
  scope.id.startsWith(sessionPrefix) ? { session_id: scope.id.slice(sessionPrefix.length) } : undefined;

/** Returns on whose behalf a process runs that a call starts here, and whom it wakes. */
export const startOf = (state: State, callId: string): ReturnType<typeof startedBySession> => {
  const holder = holderOf(state);
  if (holder !== undefined) {
    const cause: CausalRef = { type: "tool_call", session_id: holder.session_id, call_id: callId };
    return startedBySession(holder, cause);
  }
  const { process } = state;
  if (process === undefined) return { provenance: { originator: { type: "host" } } };
  return startedByProcess(process, { type: "process", process_id: process.registration.id });
};

/** Builds the registration of a process that a call starts. */
export const registrationOf = (
  { id, input, identity, eventTypes, envRef: given }: ProcessStart,
  processApi: ProcessApi,
  callId: string,
): E.Either<EffectError, ProcessRegistration> => {
  const env = given ?? (needsEnv(input) ? capturedEnv(processApi) : undefined);
  return readRegistration({
    id,
    input,
    identity: identity ?? identityOf(input),
    event_types: eventTypes ?? [],
    ...startOf(processApi.state(), callId),
    ...(env === undefined ? {} : { env_ref: env }),
  });
};

// Names of sub-agents: each is a process, under the scope of the turn that started it.

const scopeName = (scope: string): string => scope.slice(scope.indexOf(":") + 1);

/** A session may be named with slashes: in the names of its sub-agents they are escaped, so that each has its own. */
const placeOf = (scope: string): string =>
  scope.startsWith("process:") ? scopeName(scope) : encodeURIComponent(scopeName(scope));

/** Names the sub-agent of a call: a body that runs again finds the one that it has started. */
export const subAgentId = (scope: string, request: string, call: string): string =>
  `${placeOf(scope)}/${encodeURIComponent(request)}/${encodeURIComponent(call)}`;

/** Begins the names of the scopes of all sub-agents below a scope, at any depth. */
export const subAgentsOf = (scope: string): string => `process:${placeOf(scope)}/`;

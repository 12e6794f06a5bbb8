/** What a host fills in, and what it answers a body that asks it for something. */
import { type Ask, type CallRef, type Command, type Event, type State, ask } from "@pawl/sansio-core";
import type { EffectResult } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { ScopeLinksHost } from "../process/host.ts";
import { jsonOf } from "../tool/argument.ts";
import type { Request, RunId } from "../body/body-port.ts";
import { failureOf } from "../error.ts";
import type { FlowHost } from "../session/flow.ts";
import type { ToolHost } from "./tool-host.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

/** What a host fills in. */
export interface HostPort extends ScopeLinksHost, ToolHost {
  /** Answers a host request; what it throws is the body's error. */
  readonly request?: (name: string, input: Json, key: string) => Promise<Json>;
  readonly observe?: (scope: string, command: Of<"observe">) => void;
  /** What its flows need: lambdas, and somebody who reads along. */
  readonly flow?: FlowHost;
  /** What is wrong with the store or what it holds, and was got around. */
  readonly fault?: (what: string, thrown: unknown) => void;
}

export type HostRequest = Of<"host.request">;
type Asked = Pick<HostRequest, "call" | "key" | "name" | "input">;

const triggerRequest = "trigger.emit";

/** What a body asks of its host by this, if anything. */
const hostRequestOf = ({ call, attempt, run }: RunId, { key, effect }: Request): HostRequest | undefined => {
  if (effect.kind !== "host" && effect.kind !== "trigger") return undefined;
  const name = effect.kind === "host" ? effect.name : triggerRequest;
  return { type: "host.request", call: call as CallRef, attempt, run, key, name, input: effect.input };
};

/** What becomes of a request. What an earlier run was not answered its host may not know any more: it is asked again. */
export const askAs = (state: State, id: RunId, request: Request, askHost: (request: HostRequest) => void): Ask => {
  const { key, hash, effect } = request;
  const verdict = ask(state, { ...id, key, kind: effect.kind, hash });
  const asked = verdict.type === "join" ? hostRequestOf(id, request) : undefined;
  if (asked !== undefined) askHost(asked);
  return verdict;
};

/** What a host returned goes into the log; nothing at all is null, as a body's nothing is. */
const answered = (name: string, returned: unknown): EffectResult => {
  const value = jsonOf(returned === undefined ? null : returned);
  if (E.isRight(value)) return { status: "ok", value: value.right };
  return { status: "err", error: { code: "host_answer_invalid", message: `the answer to \`${name}\`: ${value.left}` } };
};

const unhandled = (name: string): { readonly code: string; readonly message: string } =>
  name === triggerRequest
    ? { code: "trigger_unavailable", message: "trigger store is unavailable in this runtime" }
    : { code: "host_request_unhandled", message: `the host answers no requests \`${name}\`` };

const resultOf = async (request: HostPort["request"], { call, key, name, input }: Asked): Promise<EffectResult> => {
  if (request === undefined) return { status: "err", error: unhandled(name) };
  try {
    return answered(name, await request(name, input, `${call}:${key}`));
  } catch (thrown) {
    return failureOf(thrown, "host_request_failed");
  }
};

/** What the host throws is the body's error. */
export const answerOf = async (request: HostPort["request"], asked: Asked): Promise<Event> => {
  const { call, key } = asked;
  return { type: "host.answered", call, key, result: await resultOf(request, asked) };
};

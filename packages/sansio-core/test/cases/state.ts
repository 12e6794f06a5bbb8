/** The ops that need a scope: waits in sequence, and a call whose batch is cancelled. */
import { tokenOf } from "@pawl/runtime/driver";
import { knownFields, knownName, withFields } from "@pawl/testkit";
import { type Json, modelReturn, ModelToolReturn, read, successOutput, ToolCallOutput } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { readToken } from "../../../runtime/src/scope/wait-token.ts";
import { ExecutionScope, sessionOfScope } from "../../src/identity/scope.ts";
import { callRef, defaultOptions, plainTool } from "../../src/index.ts";
import { resolutionOf } from "../../src/wait/model.ts";
import { TestScope } from "./scope.ts";

type Input = { readonly [field: string]: Json };
type Step = readonly [verb: string, payload?: Json];

const key = "K";
const call = callRef("r", "c");
const ofRun = { call, attempt: 1, run: 1 } as const;

const scopeId = "session:s";
const roots = { newest: { kid: "k1", secret: new Uint8Array(32) } };
const goodToken = tokenOf(roots, scopeId, key);
const spoiled = (token: string): string => `${token}0`;

const steps = [
  "resolve",
  "await",
  "await_cancelled",
  "await_deadline_now",
  "revoke",
  "revoke_session",
  "tamper",
] as const;

/** Waits on the key, as a pending call or as a body, and tells how that wait ended. */
type Wait = (scope: TestScope, verb: string, place: number) => Json;

/** A key is invalid to whoever waits on it and to whoever resolves it, once its signature is wrong or it is revoked. */
const invalidKey = { code: "await_event_unknown_or_revoked", message: "await-event key is invalid or revoked" };
const refusedWait = { status: "error", ...invalidKey, error: invalidKey };

/** How a wait ended as the key tells: by its resolution, or by nobody's leave to resolve it. */
const endOf = (scope: TestScope): Json | undefined => {
  const row = scope.state.waits.at(key);
  return row?.revoked === true ? refusedWait : (row?.terminal?.resolution as Json | undefined);
};

const asPendingCall: Wait = (scope, verb) => {
  const deadline = verb === "await_deadline_now" ? { deadline: { secs: 0, nanos: 0 } } : {};
  const pending = { ...deadline, on_timeout: "error_as_result", on_cancel: "ignore" } as const;
  scope.offer({ type: "call.settled", ...ofRun, result: { type: "pending", key, pending }, duration_ms: 0 });
  if (verb === "await_cancelled") scope.offer({ type: "call.cancelled", call });
  scope.tick();
  return endOf(scope) ?? { status: "waiting" };
};

const asBody: Wait = (scope, verb, place) => {
  const effect = `await-event:${key}#${place}`;
  const deadline = verb === "await_deadline_now" ? { deadline_ms: 0 } : {};
  scope.tell({
    type: "effect.requested",
    ...ofRun,
    key: effect,
    hash: "h",
    effect: { kind: "wait", wait: key, ...deadline },
  });
  const over = endOf(scope);
  if (over !== undefined) return over;
  if (verb === "await_cancelled") scope.tell({ type: "wait.cancelled", call, key: effect });
  scope.tick();
  const isOver = scope.commands.some((command) => command.type === "step.answer" && command.key === effect);
  if (!isOver) return { status: "waiting" };
  return { status: verb === "await_cancelled" ? "cancelled" : "timeout" };
};

const resolve = (scope: TestScope, resolution: Json): Json => {
  const rejection = scope.offer({ type: "wait.resolved", key, resolution: resolution as never });
  if (rejection === undefined) return { status: "accepted" };
  if (rejection.code !== "already_resolved") return { status: "unknown_or_revoked" };
  return { status: "already_resolved", terminal: resolutionOf(scope.state, key) as unknown as Json };
};

/** Says if a key goes with a session. Where the case names neither the key's scope nor a session, it does. */
const isOfSession = (keyScope: Json | undefined, session: Json | undefined): boolean => {
  const of = keyScope === undefined ? undefined : read(ExecutionScope, keyScope);
  if (of === undefined) return true;
  const own = E.isRight(of) ? sessionOfScope(of.right) : undefined;
  return own !== undefined && own === (session ?? own);
};

/** A sequence of steps on one key, held as the signed token that the outside is given. */
class KeyInHand {
  // A second call keeps the request, and with it the key, in the state.
  readonly #scope = new TestScope(["c", "keeper"].map((id) => ({ id, args: null })));
  readonly #wait: Wait;
  readonly #keyScope: Json | undefined;
  #token = goodToken;

  constructor({ wait, scope }: Input) {
    const type = knownName("word", (wait as Input)["type"], ["tool_completion", "process_signal", "custom"]);
    this.#wait = type === "tool_completion" ? asPendingCall : asBody;
    this.#keyScope = scope;
  }

  get #isGood(): boolean {
    return readToken(roots, scopeId, this.#token)?.key === key;
  }

  take([verb, payload]: Step, place: number): Json {
    switch (knownName("step", verb, steps)) {
      case "resolve":
        return this.#isGood ? resolve(this.#scope, payload ?? null) : { status: "unknown_or_revoked" };
      case "revoke":
        if (isOfSession(this.#keyScope, payload)) this.#scope.tell({ type: "wait.revoked", keys: [key] });
        return { status: "revoked" };
      case "revoke_session":
        if (isOfSession(this.#keyScope, payload)) this.#scope.offer({ type: "session.deleted" });
        return null;
      case "tamper":
        this.#token = spoiled(this.#token);
        return null;
      default:
        return this.#isGood ? this.#wait(this.#scope, verb, place) : refusedWait;
    }
  }
}

const awaitSequence = (input: Input): Json => {
  const hand = new KeyInHand(input);
  return { results: (input["steps"] as unknown as readonly Step[]).map((step, place) => hand.take(step, place)) };
};

const childCancelled = (input: Input): unknown => {
  const {
    call_id,
    tool_name,
    call_finishes_after_ms,
    cancel_at_ms,
    args = {},
    result = null,
    grace_ms = defaultOptions.grace_ms,
  } = input as {
    readonly call_id: string;
    readonly tool_name: string;
    /** Null: it never does. */
    readonly call_finishes_after_ms: number | null;
    readonly cancel_at_ms: number;
    readonly args?: Json;
    readonly result?: Json;
    readonly grace_ms?: number;
  };
  const replay = input["replay"] === null || input["replay"] === undefined ? {} : { replay: input["replay"] };
  const scope = new TestScope(
    [{ id: call_id, args, tool: tool_name, ...replay }],
    [plainTool(tool_name, { durable: true })],
    { ...defaultOptions, grace_ms },
  );
  const finishesAt = call_finishes_after_ms ?? Number.MAX_SAFE_INTEGER;
  const finish = (): void => {
    scope.until(finishesAt);
    const output = successOutput(result);
    const settled = { type: "call.settled", call: callRef("r", call_id), attempt: 1, run: 1 } as const;
    scope.offer({ ...settled, result: { type: "done", output }, duration_ms: finishesAt });
  };
  const cancel = (): void => {
    scope.until(cancel_at_ms);
    scope.offer({ type: "request.cancelled", request: "r" });
  };
  for (const act of cancel_at_ms < finishesAt ? [cancel, finish] : [finish, cancel]) act();
  scope.tick(); // At the very end of the grace time wins, and nobody else says so.
  const reply = scope.commands.find((command) => command.type === "reply")?.replies[0];
  if (reply === undefined) throw new Error("the call did not end");
  const launched = {
    call_id: reply.call_id,
    tool_name: reply.tool,
    args: reply.args,
    output: ToolCallOutput.encode(reply.output),
    model_return: ModelToolReturn.encode(modelReturn(reply.call_id, reply.tool, reply.output)),
    duration_ms: reply.duration_ms,
    replay: reply.replay ?? null,
  };
  const completed = scope.commands.some((command) => command.type === "observe" && command.what === "call_completed");
  return { launch: { status: "done", result: launched }, completed_event: completed };
};

/** The calls that have begun since `from`, in the order of their places. */
const begun = (scope: TestScope, from: number): readonly string[] =>
  scope.commands.slice(from).flatMap((command) => (command.type === "tool.execute" ? [command.call] : []));

/** Returns who starts together, by what the core asks for as each group settles; and the order of the replies. */
const scheduleBatch = (input: Input): Json => {
  const items = input["items"] as unknown as readonly { readonly i: number; readonly mode?: string | null }[];
  for (const item of items) {
    knownFields(item, ["i", "mode"]);
    if (item.mode !== undefined && item.mode !== null) knownName("word", item.mode, ["serial", "parallel", "unknown"]);
  }
  const calls = items
    .toSorted((a, b) => a.i - b.i)
    .map(({ i, mode }) => ({ id: `${i}`, tool: mode === "serial" ? "serial" : "parallel", args: null }));
  const tools = [plainTool("parallel"), plainTool("serial", { scheduling: "serial" })];
  const scope = new TestScope(calls, tools);
  const groups: number[][] = [];
  for (let from = 0, group = begun(scope, from); group.length > 0; group = begun(scope, from)) {
    from = scope.commands.length;
    groups.push(group.map((ref) => Number(scope.state.calls.at(ref)?.call.id)));
    for (const ref of group) {
      const result = { type: "done", output: successOutput(null) } as const;
      scope.tell({ type: "call.settled", call: ref, attempt: 1, run: 1, result, duration_ms: 0 });
    }
  }
  const replies = scope.commands.find((command) => command.type === "reply")?.replies ?? [];
  return { start_groups: groups, result_order: replies.map(({ call_id }) => Number(call_id)) };
};

const childFields = ["call_id", "tool_name", "call_finishes_after_ms", "cancel_at_ms"];

export const stateAdapters = {
  schedule_tool_batch: withFields(["items"], (input: Input) => E.right(scheduleBatch(input))),
  "await.sequence": withFields(["wait", "scope", "steps"], (input: Input) => E.right(awaitSequence(input))),
  "batch.child_cancelled": withFields([...childFields, "args", "result", "grace_ms", "replay"], (input: Input) =>
    E.right(childCancelled(input)),
  ),
};

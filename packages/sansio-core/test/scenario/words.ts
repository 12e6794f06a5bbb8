/** The words that scenarios are told in. The calls of request `r` are `r:a`, `r:b`, … by their ids. */
import type { Json, PendingCompletion, ToolCallOutput } from "@pawl/tool-value";
import type { ResumeCause } from "../../src/call/model.ts";
import { bodyOf } from "../../src/call/row.ts";
import type { Command, Event } from "../../src/kernel/vocabulary.ts";
import type { EffectResult, EffectSpec } from "../../src/call/effect/effect.ts";
import type { RequestedCall } from "../../src/request/model.ts";
import type { Tool } from "../../src/catalog/model.ts";
import type { Options } from "../../src/kernel/options.ts";
import { Rig, tool } from "../rig.ts";

/** A command as a test names it: refs are plain texts there. */
type Plain<C> = C extends unknown ? { readonly [K in keyof C]: C[K] extends string ? string : C[K] } : never;
export type Wanted = Partial<Plain<Command>> & { readonly type: Command["type"] };
export const want = (rig: Rig, ...commands: readonly Wanted[]): Rig => {
  for (const command of commands) rig.wants(command as Parameters<Rig["wants"]>[0]);
  return rig.nothingMore();
};

export const success = (payload: Json): ToolCallOutput =>
  ({ outcome: { status: "success", payload } }) as unknown as ToolCallOutput;

export const failure = (
  of: string,
  code: string,
  message: string,
  more: { readonly source?: string; readonly retry?: object; readonly raw?: Json } = {},
): ToolCallOutput =>
  ({
    outcome: {
      status: "failure",
      payload: { class: of, code, message, source: "runtime", retry: { type: "never" }, ...more },
    },
  }) as ToolCallOutput;

export const cancelled = (message: string): ToolCallOutput => ({
  outcome: { status: "cancelled", payload: { message, source: "cancellation" } },
});

export const gone = cancelled("tool call cancelled");

/** A failure of a tool that may be tried again. */
export const busy = (after_ms?: number): ToolCallOutput =>
  failure("external", "busy", "try again", {
    source: "tool",
    retry: after_ms === undefined ? { type: "safe" } : { type: "safe", after_ms },
  });

type Asked = Partial<RequestedCall> & { readonly tool: string };

/** Calls `a`, `b`, `c`, … of these tools, in the request `r`. */
export const submit = (rig: Rig, ...calls: readonly (string | Asked)[]): Rig =>
  rig.tell({
    type: "request.submitted",
    request: "r",
    hash: "h",
    calls: calls.map((call, i) => ({
      id: String.fromCodePoint(97 + i),
      args: { n: i },
      ...(typeof call === "string" ? { tool: call } : call),
    })),
  });

/** A call of the tool `echo` whose body runs. */
export const running = (more: Partial<Tool> = {}, options: Partial<Options> = {}, protocol?: number): Rig =>
  submit(Rig.open([tool("echo", more)], options, protocol), "echo").skip();

export const cancel = (rig: Rig): Rig => rig.tell({ type: "request.cancelled", request: "r", by: "p" });

/** Which run of a body: `[attempt, run]`. */
export type Run = readonly [attempt: number, run: number];
const first: Run = [1, 1];
export const of = (call: string, [attempt, run]: Run = first) => ({ call, attempt, run });

export const settle = (rig: Rig, call: string, output: ToolCallOutput, run: Run = first, duration_ms = 5): Rig =>
  rig.tell({ type: "call.settled", ...of(call, run), result: { type: "done", output }, duration_ms });

/** The end of a body that leaves these effects behind; under protocol 1 nobody says so. */
export const leave = (rig: Rig, call: string, output: ToolCallOutput, ...left: readonly string[]): Rig => {
  const named = rig.state.scope.protocol === 1 ? {} : { left };
  return rig.tell({ type: "call.settled", ...of(call), result: { type: "done", output }, duration_ms: 5, ...named });
};

export const pend = (rig: Rig, call: string, key: string, terms: Partial<PendingCompletion> = {}): Rig =>
  rig.tell({
    type: "call.settled",
    ...of(call),
    result: {
      type: "pending",
      key,
      pending: { on_timeout: "error_as_result", on_cancel: "cancel_external_work", ...terms },
    },
    duration_ms: 5,
  });

export const ask = (rig: Rig, call: string, key: string, effect: EffectSpec, run: Run = first): Rig =>
  rig.tell({ type: "effect.requested", ...of(call, run), key, hash: `h:${key}`, effect });

export const step = (recovery: "again" | "idempotent" | "once" = "again"): EffectSpec => ({
  kind: "step",
  recovery,
  input: null,
});

export const stepOk = (rig: Rig, call: string, key: string, run: Run = first): Rig =>
  rig.tell({ type: "step.settled", ...of(call, run), key, result: { status: "ok", value: 1 } });
export const stepErr = (rig: Rig, call: string, key: string, run: Run = first, code = "no"): Rig =>
  rig.tell({ type: "step.settled", ...of(call, run), key, result: { status: "err", error: { code, message: "no" } } });

/** The answer of a host to a request that is open, which it names where its protocol has that. */
export const hostAnswer = (rig: Rig, call: string, key: string, result: EffectResult): Event => {
  const row = rig.state.calls.at(call);
  const { seq = 0, hash = "" } = (row && bodyOf(row)?.open.find((open) => open.key === key)) ?? {};
  const named = rig.state.scope.protocol === 1 ? {} : { seq, hash };
  return { type: "host.answered", call, key, result, ...named };
};
export const hostAnswered = (rig: Rig, call: string, key: string, value: Json): Rig =>
  rig.tell(hostAnswer(rig, call, key, { status: "ok", value }));

export const resolve = (rig: Rig, key: string, payload: Json): Rig =>
  rig.tell({ type: "wait.resolved", key, resolution: { status: "ok", payload } });

/** A new owner opens the scope: the one before is lost. With what is said of the crash. */
export const crashAloud = (rig: Rig): Rig => {
  const { epoch, options, protocol } = rig.state.scope;
  return rig.tell({ type: "scope.opened", epoch: epoch + 1, owner: `d${epoch + 1}`, protocol, options });
};

/** A new owner opens the scope: the one before is lost. */
export const crash = (rig: Rig): Rig => crashAloud(rig).hush();

/** A new owner opens the scope, which the one before had released. */
export const release = (rig: Rig): Rig => {
  const { epoch, options, protocol } = rig.state.scope;
  const opened = { type: "scope.opened", epoch: epoch + 1, owner: `d${epoch + 1}`, protocol, options } as const;
  return rig.tell({ ...opened, last_owner: "released" });
};

export const resume = (rig: Rig, call: string, run: Run, cause: ResumeCause = "owner_lost"): Rig =>
  rig.tell({ type: "call.resumed", ...of(call, run), cause, owner: "d" });

export const started = (call_id: string): Wanted => ({ type: "observe", what: "call_started", call_id });
export const completed = (call_id: string, output?: ToolCallOutput): Wanted => ({
  type: "observe",
  what: "call_completed",
  call_id,
  ...(output === undefined ? {} : { output }),
});
export const execute = (call: string, [attempt, run]: Run = first): Wanted => ({
  type: "tool.execute",
  call,
  attempt,
  run,
});
export const stop = (call: string, [attempt, run]: Run = first): Wanted => ({
  type: "tool.cancel",
  call,
  attempt,
  run,
});

/** The reply to `r`, by its outputs in their order. */
export const replied = (...outputs: readonly ToolCallOutput[]): Wanted => ({
  type: "reply",
  request: "r",
  replies: outputs.map((output) => ({ output })) as never,
});

/** `ctx.processes`: what a body does with processes. Each is a durable effect under the key of what it does. */
import {
  type Asking as Asked,
  type EffectResult,
  type EffectSpec,
  ProcessAwaitOutput,
  type ProcessHandleSummary,
  type ProcessListMode,
  type ProcessStatus,
  type SessionScope,
  cancelRequest,
  checkSignalName,
  descriptorOf,
  eventPayloadHash,
  handlesOf,
  notGranted,
  notVisible,
  processEffectId,
  processScope,
  registrationHash,
  sessionScopeId,
  signalEventType,
  transferEffectId,
} from "@pawl/sansio-core";
import { type Json, describe, oneOf, read, record, string, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";
import { awaitEffectKey } from "../value.ts";
import { type Asking, type Durable, durable, toJson, valueOf } from "./asking.ts";
import { type ProcessReach, holderOf } from "./process-reach.ts";
import { type ProcessStart, registrationOf } from "./process-registration.ts";

/** How a process stands after it was asked to end. */
export interface CancelledProcess {
  readonly process_id: string;
  readonly status: ProcessStatus["state"];
}
/** Where a signal stands in its process's log. */
export interface SignalledProcess {
  readonly process_id: string;
  readonly sequence: number;
}

export interface ProcessesFacet {
  readonly start: (request: ProcessStart) => Durable<ProcessHandleSummary>;
  /** Its end. With a signal: when that is aborted the process is asked to end, and its real end is still awaited. */
  readonly await: (id: string, options?: { readonly signal?: AbortSignal }) => Durable<ProcessAwaitOutput>;
  readonly cancel: (id: string) => Durable<CancelledProcess>;
  readonly signal: (id: string, name: string, payload: unknown, signalId?: string) => Durable<SignalledProcess>;
  readonly listHandles: () => Durable<readonly ProcessHandleSummary[]>;
  readonly listAllHandles: () => Durable<readonly ProcessHandleSummary[]>;
  readonly listHandlesFiltered: (
    keep: (handle: ProcessHandleSummary) => boolean,
  ) => Promise<readonly ProcessHandleSummary[]>;
  readonly validateHandles: (ids: readonly string[]) => Durable<void>;
  readonly transferHandles: (sessionId: string, ids: readonly string[]) => Durable<void>;
  readonly transferHandlesToFrame: (frameId: string, ids: readonly string[]) => Durable<void>;
  readonly cancelAll: () => Promise<readonly CancelledProcess[]>;
  /** Cancels what runs and is not to be kept. */
  readonly cancelUnreferencedHandles: (keep: readonly string[]) => Promise<readonly CancelledProcess[]>;
}

export interface Processes {
  readonly processes: ProcessesFacet;
}

const reason = "requested by tool";

const Cancelled = record<CancelledProcess>("struct CancelledProcess", {
  process_id: string,
  status: oneOf("a process state", "running", "completed", "failed", "cancelled"),
});
const Signalled = record<SignalledProcess>("struct SignalledProcess", { process_id: string, sequence: u64 });

/** What a process answered, read. */
const said = <A>(codec: Parameters<typeof read<A>>[0], result: EffectResult): A => {
  const value = read<A>(codec, valueOf(result));
  if (E.isRight(value)) return value.right;
  throw new EffectError("process_answer", `the process's answer is none: ${describe(value.left)}`);
};

const rejected = <A>(key: string, error: EffectError): Durable<A> => durable(key, Promise.reject<A>(error));

export const processes = (asking: Asking): Processes => {
  const { body, facts } = asking;
  const reach: ProcessReach = facts.reach;
  /** What this run has started, with the hashes of the registrations. */
  const started = new Map<string, string>();

  const holder = (): SessionScope | undefined => holderOf(reach.state());

  /** In whose name it is asked: this run needs none for what it started. */
  const named = (id: string): { readonly holder?: SessionScope } | EffectError => {
    if (started.has(id)) return {};
    const own = holder();
    return own === undefined ? new EffectError("handle_refused", notVisible(id)) : { holder: own };
  };

  const tell = (key: string, id: string, message: Asked, input: Json): Promise<EffectResult> | EffectError => {
    const name = named(id);
    if (name instanceof EffectError) return name;
    const effect: EffectSpec = { kind: "message", to: processScope(id), message, ...name };
    return asking.ask(key, effect, input).then(({ result }) => result);
  };

  /** Reads or changes what the scope itself holds; its outcome is on record like a step's. */
  const own = async (key: string, given: Json, perform: () => EffectResult): Promise<Json> => {
    const input = toJson(given, key);
    const spec: EffectSpec = { kind: "step", recovery: "again", input };
    return valueOf((await asking.ask(key, spec, input, async () => perform())).result);
  };

  const start: ProcessesFacet["start"] = (request) => {
    const made = registrationOf(request, reach, facts.callId);
    const key = processEffectId({ op: "start", process_id: request.id });
    if (E.isLeft(made)) return rejected(key, made.left);
    const registration = made.right;
    const hash = registrationHash(registration);
    const before = started.get(registration.id) ?? hash;
    if (before !== hash) {
      const message = `process \`${registration.id}\` registration hash conflict: existing ${before}, new ${hash}`;
      return rejected(key, new EffectError("process_conflict", message));
    }
    started.set(registration.id, hash);
    const effect: EffectSpec = {
      kind: "message",
      to: processScope(registration.id),
      message: { type: "process.start", registration, hash },
    };
    return durable(
      key,
      asking.ask(key, effect, hash).then(({ result }): ProcessHandleSummary => {
        const { status } = said(Cancelled, result);
        const { id, identity } = registration;
        const definition = identity.definition === undefined ? {} : { definition: identity.definition };
        const descriptor = descriptorOf(registration);
        return { __handle__: "process", id, process_id: id, descriptor, ...definition, status };
      }),
    );
  };

  const cancel: ProcessesFacet["cancel"] = (id) => {
    const key = processEffectId({ op: "cancel", process_id: id });
    const payload_hash = cancelRequest(id, reason).payload.hash;
    const answered = tell(key, id, { type: "process.cancel", reason, payload_hash }, reason);
    if (answered instanceof EffectError) return rejected(key, answered);
    return durable(
      key,
      answered.then((result) => said(Cancelled, result)),
    );
  };

  const awaitEnd = async (
    key: string,
    asked: Promise<EffectResult>,
    waited: Promise<EffectResult>,
  ): Promise<ProcessAwaitOutput> => {
    const answer = await asked;
    if (answer.status === "err") {
      body.leave(key);
      valueOf(answer);
    }
    return said(ProcessAwaitOutput, await waited);
  };

  const awaitProcess: ProcessesFacet["await"] = (id, { signal } = {}) => {
    const wait = processEffectId({ op: "await", process_id: id });
    const key = awaitEffectKey(wait);
    const asked = tell(wait, id, { type: "process.await", wait }, id);
    if (asked instanceof EffectError) return rejected(key, asked);
    const waited = asking.ask(key, { kind: "wait", wait }, wait).then(({ result }) => result);
    waited.catch(() => undefined); // Where neither can be asked for, the first says so.
    const stop = (): void => void cancel(id).catch(() => undefined); // The end is awaited, whatever comes of this.
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    const end = awaitEnd(key, asked, waited).finally(() => signal?.removeEventListener("abort", stop));
    return durable(key, end);
  };

  const signal: ProcessesFacet["signal"] = (id, name, payload, signalId = `${facts.executionScope}/${facts.name}`) => {
    const key = processEffectId({ op: "signal", process_id: id, signal_name: name, signal_id: signalId });
    const checked = checkSignalName(name);
    if (E.isLeft(checked)) return rejected(key, new EffectError(checked.left.code, checked.left.message));
    const json = toJson(payload, `the payload of signal \`${name}\``);
    const payload_hash = eventPayloadHash(signalEventType(name), json).hash;
    const message: Asked = { type: "process.signal", name, signal_id: signalId, payload: json, payload_hash };
    const scope = holder();
    const mine = scope === undefined ? named(id) : { holder: scope };
    if (mine instanceof EffectError) return rejected(key, mine);
    const answered = asking.ask(key, { kind: "message", to: processScope(id), message, ...mine }, payload_hash);
    return durable(
      key,
      answered.then(({ result }) => said(Signalled, result)),
    );
  };

  const listed = (mode: ProcessListMode): Durable<readonly ProcessHandleSummary[]> => {
    const scope = holder();
    const name = scope === undefined ? reach.state().scope.id : sessionScopeId(scope);
    const key = asking.nextName(`process:list:${name}:${mode}`);
    const perform = (): EffectResult => {
      const handles = scope === undefined ? [] : handlesOf(reach.state(), scope, mode);
      return { status: "ok", value: handles as unknown as Json };
    };
    return durable(key, own(key, mode, perform) as unknown as Promise<readonly ProcessHandleSummary[]>);
  };

  const transfer = (to: SessionScope, ids: readonly string[]): Durable<void> => {
    const from = holder() ?? { session_id: "" };
    const key = asking.nextName(transferEffectId(from, to, ids));
    const done = own(key, [sessionScopeId(to), ...ids], () =>
      reach.tell({ type: "handles.transferred", from, to, processes: ids }),
    );
    return durable(
      key,
      done.then(() => undefined),
    );
  };

  const validateHandles: ProcessesFacet["validateHandles"] = (ids) => {
    const key = asking.nextName("process:validate");
    const scope = holder();
    const perform = (): EffectResult => {
      const held = scope === undefined ? [] : handlesOf(reach.state(), scope, "all").map(({ id }) => id);
      const stray = ids.find((id) => !held.includes(id));
      if (stray === undefined) return { status: "ok", value: null };
      const message = notGranted(stray, scope?.session_id ?? reach.state().scope.id);
      return { status: "err", error: { code: "handle_refused", message } };
    };
    return durable(
      key,
      own(key, [...ids], perform).then(() => undefined),
    );
  };

  const cancelEach = async (keep: readonly string[]): Promise<readonly CancelledProcess[]> => {
    const live = await listed("live");
    return Promise.all(live.filter(({ id }) => !keep.includes(id)).map(({ id }) => cancel(id)));
  };

  return {
    processes: {
      start,
      await: awaitProcess,
      cancel,
      signal,
      listHandles: () => listed("live"),
      listAllHandles: () => listed("all"),
      listHandlesFiltered: async (keep) => (await listed("all")).filter(keep),
      validateHandles,
      transferHandles: (session_id, ids) => transfer({ session_id }, ids),
      transferHandlesToFrame: (agent_frame_id, ids) =>
        transfer({ session_id: holder()?.session_id ?? "", agent_frame_id }, ids),
      cancelAll: () => cancelEach([]),
      cancelUnreferencedHandles: cancelEach,
    },
  };
};

/** Processes, as a body uses them: `ctx.processes`. Each verb is a durable effect under the key of what it does. */
import {
  type Asking as Asked,
  type EffectResult,
  type EffectSpec,
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
  ProcessAwaitOutput,
  processEffectId,
  processScope,
  registrationHash,
  sessionScopeId,
  signalEventType,
  transferEffectId,
} from "@pawl/sansio-core/driver";
import { type Codec, type Json, describe, oneOf, read, record, string, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { type ProcessStart, holderOf, registrationOf } from "../../process/registration.ts";
import { awaitEffectKey } from "../recorded-result.ts";
import { type Asking, type ProcessApi, toJson, valueOf } from "./facet.ts";
import { type Durable, durable, handled, refusing } from "./durable.ts";

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
  /** Resolves at its end. An abort of the signal asks the process to end; its real end is still awaited. */
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

const reason = "requested by tool";

const Cancelled = record<CancelledProcess>("struct CancelledProcess", {
  process_id: string,
  status: oneOf("a process state", "running", "completed", "failed", "cancelled"),
});
const Signalled = record<SignalledProcess>("struct SignalledProcess", { process_id: string, sequence: u64 });

const answerIn = <A>(codec: Codec<A>, result: EffectResult): A => {
  const answer = read(codec, valueOf(result));
  if (E.isRight(answer)) return answer.right;
  throw new EffectError("process_answer", `the answer of the process does not fit: ${describe(answer.left)}`);
};

/** Asks for effects on processes, each under the key that it is given. */
class ProcessRequests {
  readonly #asking: Asking;
  /** Hashes of the registrations that this run has started. */
  readonly #started = new Map<string, string>();
  /** Hashes of the payloads that it has signalled, by the key of the request. */
  readonly #signalled = new Map<string, string>();

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  get #processApi(): ProcessApi {
    return this.#asking.facts.processApi;
  }

  get #holder(): SessionScope | undefined {
    return holderOf(this.#processApi.state());
  }

  /** Returns in whose name a process is asked. A run needs no name for what it started itself. */
  #named(id: string): { readonly holder?: SessionScope } {
    if (this.#started.has(id)) return {};
    const holder = this.#holder;
    if (holder === undefined) throw new EffectError("handle_refused", notVisible(id));
    return { holder };
  }

  async #tell(key: string, id: string, message: Asked, input: Json): Promise<EffectResult> {
    const effect: EffectSpec = { kind: "message", to: processScope(id), message, ...this.#named(id) };
    return (await this.#asking.ask(key, effect, input)).result;
  }

  /** Reads or changes the handles that the scope itself holds; the outcome is on record as that of a step. */
  async #step(key: string, given: Json, perform: () => EffectResult): Promise<Json> {
    const input = toJson(given, key);
    const spec: EffectSpec = { kind: "step", recovery: "again", input };
    return valueOf((await this.#asking.ask(key, spec, input, async () => perform())).result);
  }

  async start(key: string, request: ProcessStart): Promise<ProcessHandleSummary> {
    const made = registrationOf(request, this.#processApi, this.#asking.facts.callId);
    if (E.isLeft(made)) throw made.left;
    const registration = made.right;
    const { id, identity } = registration;
    const hash = registrationHash(registration);
    const before = this.#started.get(id) ?? hash;
    if (before !== hash) {
      const message = `process \`${id}\` registration hash conflict: existing ${before}, new ${hash}`;
      throw new EffectError("process_conflict", message);
    }
    this.#started.set(id, hash);
    const message: Asked = { type: "process.start", registration, hash };
    const { status } = answerIn(Cancelled, await this.#tell(key, id, message, hash));
    const definition = identity.definition === undefined ? {} : { definition: identity.definition };
    return { __handle__: "process", id, process_id: id, descriptor: descriptorOf(registration), ...definition, status };
  }

  async cancel(key: string, id: string): Promise<CancelledProcess> {
    const payload_hash = cancelRequest(id, reason).payload.hash;
    return answerIn(Cancelled, await this.#tell(key, id, { type: "process.cancel", reason, payload_hash }, reason));
  }

  /** Resolves at the end of a process. An abort of the signal asks it to end. */
  async await(key: string, wait: string, id: string, signal: AbortSignal | undefined): Promise<ProcessAwaitOutput> {
    this.#named(id);
    const asked = this.#tell(wait, id, { type: "process.await", wait }, id);
    const waited = this.#asking.ask(key, { kind: "wait", wait }, wait).then(({ result }) => result);
    void handled(waited); // Where neither can be asked for, `asked` reports it.
    const cancelled = processEffectId({ op: "cancel", process_id: id });
    const stop = (): void => void handled(this.cancel(cancelled, id)); // The end is awaited, whatever comes of this.
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.#end(key, asked, waited);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  async #end(key: string, asked: Promise<EffectResult>, waited: Promise<EffectResult>): Promise<ProcessAwaitOutput> {
    const answer = await asked;
    if (answer.status === "err") {
      this.#asking.body.leave(key);
      valueOf(answer);
    }
    return answerIn(ProcessAwaitOutput, await waited);
  }

  async signal(
    key: string,
    id: string,
    { name, signalId, payload }: { readonly name: string; readonly signalId: string; readonly payload: unknown },
  ): Promise<SignalledProcess> {
    const checked = checkSignalName(name);
    if (E.isLeft(checked)) throw new EffectError(checked.left.code, checked.left.message);
    const json = toJson(payload, `the payload of signal \`${name}\``);
    const payload_hash = eventPayloadHash(signalEventType(name), json).hash;
    const before = this.#signalled.get(key) ?? payload_hash;
    if (before !== payload_hash) {
      const replayed = `process:${id}:${signalEventType(name)}:${signalId}`;
      const message = `process \`${id}\` event replay key \`${replayed}\` conflicts with an existing event`;
      throw new EffectError("process_conflict", message);
    }
    this.#signalled.set(key, payload_hash);
    const message: Asked = { type: "process.signal", name, signal_id: signalId, payload: json, payload_hash };
    const holder = this.#holder;
    const named = holder === undefined ? this.#named(id) : { holder };
    const effect: EffectSpec = { kind: "message", to: processScope(id), message, ...named };
    return answerIn(Signalled, (await this.#asking.ask(key, effect, payload_hash)).result);
  }

  async list(key: string, mode: ProcessListMode): Promise<readonly ProcessHandleSummary[]> {
    const holder = this.#holder;
    const perform = (): EffectResult => {
      const handles = holder === undefined ? [] : handlesOf(this.#processApi.state(), holder, mode);
      return { status: "ok", value: handles as unknown as Json };
    };
    return (await this.#step(key, mode, perform)) as unknown as readonly ProcessHandleSummary[];
  }

  async transfer(key: string, from: SessionScope, to: SessionScope, ids: readonly string[]): Promise<void> {
    const event = { type: "handles.transferred", from, to, processes: ids } as const;
    await this.#step(key, [sessionScopeId(to), ...ids], () => this.#processApi.apply(event));
  }

  async validate(key: string, ids: readonly string[]): Promise<void> {
    const holder = this.#holder;
    const perform = (): EffectResult => {
      const held = holder === undefined ? [] : handlesOf(this.#processApi.state(), holder, "all").map(({ id }) => id);
      const invalid = ids.find((id) => !held.includes(id));
      if (invalid === undefined) return { status: "ok", value: null };
      const message = notGranted(invalid, holder?.session_id ?? this.#processApi.state().scope.id);
      return { status: "err", error: { code: "handle_refused", message } };
    };
    await this.#step(key, [...ids], perform);
  }
}

export const processes = (asking: Asking): ProcessesFacet => {
  const { facts } = asking;
  let made: ProcessRequests | undefined;

  const ask = <A>(key: string, act: (requests: ProcessRequests) => Promise<A>): Durable<A> =>
    durable(key, act((made ??= new ProcessRequests(asking))));

  const holder = (): SessionScope | undefined => holderOf(facts.processApi.state());

  const cancel: ProcessesFacet["cancel"] = (id) => {
    const key = processEffectId({ op: "cancel", process_id: id });
    return ask(key, (requests) => requests.cancel(key, id));
  };

  const listed = (mode: ProcessListMode): Durable<readonly ProcessHandleSummary[]> => {
    const scope = holder();
    const name = scope === undefined ? facts.processApi.state().scope.id : sessionScopeId(scope);
    const key = asking.nextName(`process:list:${name}:${mode}`);
    return ask(key, (requests) => requests.list(key, mode));
  };

  const transfer = (to: SessionScope, ids: readonly string[]): Durable<void> =>
    refusing("process:transfer", () => {
      const from = holder() ?? { session_id: "" };
      const key = asking.nextName(transferEffectId(from, to, ids));
      return ask(key, (requests) => requests.transfer(key, from, to, ids));
    });

  const cancelEach = async (keep: readonly string[]): Promise<readonly CancelledProcess[]> => {
    const live = await listed("live");
    return Promise.all(live.filter(({ id }) => !keep.includes(id)).map(({ id }) => cancel(id)));
  };

  return {
    start: (request) =>
      refusing("process:start", () => {
        const key = processEffectId({ op: "start", process_id: request.id });
        return ask(key, (requests) => requests.start(key, request));
      }),
    await: (id, { signal } = {}) => {
      const wait = processEffectId({ op: "await", process_id: id });
      const key = awaitEffectKey(wait);
      return ask(key, (requests) => requests.await(key, wait, id, signal));
    },
    cancel,
    signal: (id, name, payload, signalId = facts.life.named(`${facts.executionScope}/${facts.name}`)) => {
      const key = processEffectId({ op: "signal", process_id: id, signal_name: name, signal_id: signalId });
      return ask(key, (requests) => requests.signal(key, id, { name, signalId, payload }));
    },
    listHandles: () => listed("live"),
    listAllHandles: () => listed("all"),
    listHandlesFiltered: (keep) => handled(listed("all").then((handles) => handles.filter(keep))),
    validateHandles: (ids) => {
      const key = asking.nextName("process:validate");
      return ask(key, (requests) => requests.validate(key, ids));
    },
    transferHandles: (session_id, ids) => transfer({ session_id }, ids),
    transferHandlesToFrame: (agent_frame_id, ids) =>
      transfer({ session_id: holder()?.session_id ?? "", agent_frame_id }, ids),
    cancelAll: () => handled(cancelEach([])),
    cancelUnreferencedHandles: (keep) => handled(cancelEach(keep)),
  };
};

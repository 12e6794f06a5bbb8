/** What a body does with processes, asked for under the keys that `ctx.processes` gives. */
import {
  type Asking as Asked,
  type EffectResult,
  type EffectSpec,
  ProcessAwaitOutput,
  type ProcessHandleSummary,
  type ProcessListMode,
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
} from "@pawl/sansio-core/driver";
import { type Json, describe, oneOf, read, record, string, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { type Asking, toJson, valueOf } from "./asking.ts";
import type { CancelledProcess, SignalledProcess } from "./process.ts";
import { type ProcessStart, holderOf, registrationOf } from "../../process/registration.ts";

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

type Named = { readonly holder?: SessionScope };

export class ProcessAsking {
  readonly #asking: Asking;
  /** What this run has started, with the hashes of the registrations. */
  readonly #started = new Map<string, string>();
  /** What it has signalled, by the key of the request, with the hashes of the payloads. */
  readonly #signalled = new Map<string, string>();

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  get #processApi(): Asking["facts"]["processApi"] {
    return this.#asking.facts.processApi;
  }

  /** In whose name it is asked: this run needs none for what it started. */
  #named(id: string): Named {
    if (this.#started.has(id)) return {};
    const holder = holderOf(this.#processApi.state());
    if (holder === undefined) throw new EffectError("handle_refused", notVisible(id));
    return { holder };
  }

  async #tell(key: string, id: string, message: Asked, input: Json): Promise<EffectResult> {
    const effect: EffectSpec = { kind: "message", to: processScope(id), message, ...this.#named(id) };
    return (await this.#asking.ask(key, effect, input)).result;
  }

  /** Reads or changes what the scope itself holds; its outcome is on record like a step's. */
  async #own(key: string, given: Json, perform: () => EffectResult): Promise<Json> {
    const input = toJson(given, key);
    const spec: EffectSpec = { kind: "step", recovery: "again", input };
    return valueOf((await this.#asking.ask(key, spec, input, async () => perform())).result);
  }

  async start(key: string, request: ProcessStart): Promise<ProcessHandleSummary> {
    const made = registrationOf(request, this.#processApi, this.#asking.facts.callId);
    if (E.isLeft(made)) throw made.left;
    const registration = made.right;
    const hash = registrationHash(registration);
    const before = this.#started.get(registration.id) ?? hash;
    if (before !== hash) {
      const message = `process \`${registration.id}\` registration hash conflict: existing ${before}, new ${hash}`;
      throw new EffectError("process_conflict", message);
    }
    this.#started.set(registration.id, hash);
    const { id, identity } = registration;
    const effect: EffectSpec = {
      kind: "message",
      to: processScope(id),
      message: { type: "process.start", registration, hash },
    };
    const { status } = said(Cancelled, (await this.#asking.ask(key, effect, hash)).result);
    const definition = identity.definition === undefined ? {} : { definition: identity.definition };
    return { __handle__: "process", id, process_id: id, descriptor: descriptorOf(registration), ...definition, status };
  }

  async cancel(key: string, id: string): Promise<CancelledProcess> {
    const payload_hash = cancelRequest(id, reason).payload.hash;
    return said(Cancelled, await this.#tell(key, id, { type: "process.cancel", reason, payload_hash }, reason));
  }

  /** Its end; when the signal is aborted the process is asked to end. */
  async await(key: string, wait: string, id: string, signal: AbortSignal | undefined): Promise<ProcessAwaitOutput> {
    this.#named(id);
    const asked = this.#tell(wait, id, { type: "process.await", wait }, id);
    const waited = this.#asking.ask(key, { kind: "wait", wait }, wait).then(({ result }) => result);
    waited.catch(() => undefined); // Where neither can be asked for, the first says so.
    const cancelled = processEffectId({ op: "cancel", process_id: id });
    const stop = (): void => void this.cancel(cancelled, id).catch(() => undefined); // The end is awaited, whatever comes of this.
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
    return said(ProcessAwaitOutput, await waited);
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
    const holder = holderOf(this.#processApi.state());
    const mine = holder === undefined ? this.#named(id) : { holder };
    const effect: EffectSpec = { kind: "message", to: processScope(id), message, ...mine };
    return said(Signalled, (await this.#asking.ask(key, effect, payload_hash)).result);
  }

  async list(key: string, mode: ProcessListMode): Promise<readonly ProcessHandleSummary[]> {
    const holder = holderOf(this.#processApi.state());
    const perform = (): EffectResult => {
      const handles = holder === undefined ? [] : handlesOf(this.#processApi.state(), holder, mode);
      return { status: "ok", value: handles as unknown as Json };
    };
    return (await this.#own(key, mode, perform)) as unknown as readonly ProcessHandleSummary[];
  }

  async transfer(key: string, from: SessionScope, to: SessionScope, ids: readonly string[]): Promise<void> {
    const event = { type: "handles.transferred", from, to, processes: ids } as const;
    await this.#own(key, [sessionScopeId(to), ...ids], () => this.#processApi.apply(event));
  }

  async validate(key: string, ids: readonly string[]): Promise<void> {
    const holder = holderOf(this.#processApi.state());
    const perform = (): EffectResult => {
      const held = holder === undefined ? [] : handlesOf(this.#processApi.state(), holder, "all").map(({ id }) => id);
      const invalid = ids.find((id) => !held.includes(id));
      if (invalid === undefined) return { status: "ok", value: null };
      const message = notGranted(invalid, holder?.session_id ?? this.#processApi.state().scope.id);
      return { status: "err", error: { code: "handle_refused", message } };
    };
    await this.#own(key, [...ids], perform);
  }
}

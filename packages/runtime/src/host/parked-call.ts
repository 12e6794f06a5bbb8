/** Calls that wait for a connection: parked, told to the host, and run again or ended when it has answered. */
import type { CallRef, Command, Event } from "@pawl/sansio-core";
import { bodyOf } from "@pawl/sansio-core/driver";
import { errorOutput, stableHash } from "@pawl/tool-value";
import { connectionOf, connectionWait, refusalIn } from "./parked-connection.ts";
import type { CallFacts } from "../body/facet/facts.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { ToolHost } from "./tool-host.ts";

type Execute = Extract<Command, { readonly type: "tool.execute" }>;

export class ParkedCalls {
  readonly #runner: ScopeRunner;
  readonly #owner: string;
  readonly #host: ToolHost;
  readonly #eventAt: (seq: number) => Promise<Event>;

  constructor(runner: ScopeRunner, owner: string, host: ToolHost, eventAt: (seq: number) => Promise<Event>) {
    this.#runner = runner;
    this.#owner = owner;
    this.#host = host;
    this.#eventAt = eventAt;
  }

  /** The body has ended, and is run again when the host has answered: by whoever owns the scope then. */
  async park({ call, attempt, run }: Execute, facts: CallFacts, provider: string): Promise<void> {
    const { key, wait } = connectionWait(this.#runner.state, facts, provider);
    const effect = { kind: "wait", wait } as const;
    this.#runner.apply({ type: "effect.requested", call, attempt, run, key, hash: stableHash(wait), effect });
    this.#runner.apply({ type: "call.suspended", call, attempt, run, parked: key });
    await this.#runner.whenDurable();
    this.ask(call);
  }

  /** Tells the host what a call is parked for, if it still is. */
  ask(call: CallRef): void {
    const request = connectionOf(this.#runner.state, call);
    if (request !== undefined) this.#host.connectionRequired?.(request);
  }

  askAll(): void {
    for (const { call } of this.#runner.state.calls.rows()) this.ask(call.ref);
  }

  /** The host's answer stands in one append with the run that takes it: no body of this run is ever lost. */
  async resume(command: Execute, key: string): Promise<void> {
    const { call, attempt, run, cause = "suspended", args } = command;
    const refusal = await this.#refusal(call, key);
    this.#runner.apply({ type: "call.resumed", call, attempt, run, cause, owner: this.#owner });
    if (refusal === undefined) return void this.#runner.apply({ type: "call.continued", call, attempt, run, args });
    const result = { type: "done", output: errorOutput(refusal) } as const;
    this.#runner.apply({ type: "call.settled", call, attempt, run, result, duration_ms: 0 });
  }

  async #refusal(call: CallRef, key: string): Promise<string | undefined> {
    const row = this.#runner.state.calls.at(call);
    const answered = row === undefined ? undefined : bodyOf(row)?.settled.get(key);
    if (answered === undefined || answered.status === "ok") return undefined;
    return refusalIn(await this.#eventAt(answered.value));
  }
}

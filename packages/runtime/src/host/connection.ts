/**
 * Connections. The call of a tool that needs one first is parked until the host has answered, over restarts as well: the
 * body has ended, and a wait stands for what it needs. Saved, the tool is run again; refused, the host's text is its error.
 */
import type { CommandOf, CallRef, Event, State } from "@pawl/sansio-core";
import { type CallRow, bodyOf } from "@pawl/sansio-core/driver";
import { type Resolution, type ToolResult, errorOutput, ok, stableHash } from "@pawl/tool-value";
import type { CallFacts } from "../body/facet/facet.ts";
import { Refused } from "../error.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import { type ToolHost, customKeyId } from "./host.ts";

/** The host is asked for a connection to a provider. */
export interface ConnectionRequest {
  readonly scope: string;
  readonly call: string;
  readonly callId: string;
  readonly tool: string;
  readonly provider: string;
}

export type ConnectionAnswer =
  | { readonly status: "saved" }
  /** The text is the tool's error. */
  | { readonly status: "refused"; readonly message: string };

const prefix = "connection:";

/** Finds the key of the connection that a call was parked for, if the host has answered. */
export const answeredConnection = (row: CallRow | undefined): string | undefined => {
  const settled = row === undefined ? undefined : bodyOf(row)?.settled;
  return settled?.keys().find((key) => key.startsWith(prefix));
};

/** Returns the result of a call whose host makes no connections. */
export const unanswered = (provider: string): ToolResult => ok({ connection_required: provider });

/** Names the effect that waits for the host, and its wait: a wait is resolved once, so each needs a name of its own. */
const connectionWait = (
  { waits }: State,
  facts: CallFacts,
  provider: string,
): { readonly key: string; readonly wait: string } => {
  for (let n = 1; ; n++) {
    const wait = customKeyId(facts, `pawl:connection:${facts.name}:${n}`);
    if (waits.at(wait)?.terminal === undefined) return { key: prefix + provider, wait };
  }
};

/** Returns the request of a call that is parked for a connection. */
const connectionOf = (
  { scope: { id: scope }, calls }: State,
  call: string,
): (ConnectionRequest & { readonly wait: string }) | undefined => {
  const row = calls.at(call);
  if (row?.phase !== "suspended") return undefined;
  const open = row.body.open.find(({ key }) => key.startsWith(prefix));
  if (open?.wait === undefined) return undefined;
  const provider = open.key.slice(prefix.length);
  return { scope, call: row.call.ref, callId: row.call.id, tool: row.tool, provider, wait: open.wait };
};

/** Reads why there is no connection from the event that ended the wait. */
const refusalIn = (event: Event): string =>
  event.type === "wait.resolved" && event.resolution.status === "err"
    ? event.resolution.payload.message
    : "the connection was not made";

const resolutionOf = (answer: ConnectionAnswer): Resolution =>
  answer.status === "saved"
    ? { status: "ok", payload: null }
    : { status: "err", payload: { code: "connection_refused", message: answer.message } };

/** Makes the event of a host's answer. */
export const answerOfHost = (state: State, call: string, answer: ConnectionAnswer, by: string | undefined): Event => {
  const parked = connectionOf(state, call);
  if (parked === undefined) throw new Refused("not_parked", `call \`${call}\` waits for no connection`);
  const resolution = resolutionOf(answer);
  return { type: "wait.resolved", key: parked.wait, resolution, ...(by === undefined ? {} : { by }) };
};

type Execute = CommandOf<"tool.execute">;

/** Calls that wait for a connection: parked, told to the host, and run again or ended when it has answered. */
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

  /** Parks a call whose body has ended. Whoever owns the scope when the host has answered runs it again. */
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

  /** Takes the host's answer, in one append with the new run: a crash between them would lose a run without a body. */
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

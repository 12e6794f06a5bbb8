/** The calls of one scope that executors run: offered, and settled by whom they were offered to. */
import type { CommandOf } from "@pawl/sansio-core";
import { textOf } from "../../error.ts";
import { type CallIn, type CallRow, hasRule, isExecutor } from "@pawl/sansio-core/driver";
import type { ToolCallOutput } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Access, decodedEvent, refuse } from "../../scope/access.ts";
import { type HostSide, completionKeyId, executionScopeIn } from "../../host/host.ts";
import type { ProgressSaid } from "../observe/observation.ts";
import type { Instance } from "../instance.ts";
import { type ExecutorEnd, type Executors, type Offer, type OfferedRun, offerOf } from "./executor.ts";
import type { Observers } from "../observe/observer.ts";
import { scopedTokenOf, tokenOf } from "../../scope/wait-token.ts";

type Execute = CommandOf<"tool.execute">;

export interface Settlement extends OfferedRun {
  readonly output: ToolCallOutput;
  readonly duration_ms: number;
}

/** The call took the report, or had ended without it. */
export type Settled = "accepted" | "too_late";

const isRunBy = (row: CallRow | undefined, owner: string, { attempt, run }: OfferedRun): boolean =>
  row?.phase === "running" && row.owner === owner && row.body.attempt === attempt && row.body.run === run;

export class Offers {
  readonly #access: Access;
  readonly #executors: Executors;
  readonly #observers: Observers;
  /** This driver, which has a run until an executor has it. */
  readonly #self: string;
  /** Tools for which calls wait, since nobody runs them. */
  readonly #missing = new Set<string>();

  readonly #versions: HostSide["versions"];
  readonly #token: (key: string) => string;

  constructor(access: Access, observers: Observers, { executors, owner }: Instance, { roots, versions }: HostSide) {
    this.#access = access;
    this.#executors = executors;
    this.#observers = observers;
    this.#self = owner;
    this.#versions = versions;
    const hasLives = (): boolean => hasRule(access.runner.state.scope.protocol, "lives"); // Not before its opening.
    this.#token = (key) => (hasLives() ? scopedTokenOf : tokenOf)(roots, access.runner.id, key);
  }

  /** Gives executors the calls of an opened scope that are theirs in its log. Calls that wait for one may go on. */
  opened(): void {
    const { runner } = this.#access;
    for (const row of runner.state.calls.rows()) {
      if (row.phase === "no_executor") this.#missing.add(row.body.manifest.id);
      if (row.phase === "running" && isExecutor(row.owner)) this.#adopt(row.owner, this.#offerOf(row));
    }
    this.available([...this.#missing]);
  }

  #adopt(owner: string, offer: Offer): void {
    const { runner, values } = this.#access;
    values.inOrder(
      offer,
      (shown) => this.#executors.adopt(owner, shown),
      (thrown) => runner.abandon(`call ${offer.call} cannot be offered: ${textOf(thrown)}`),
    );
  }

  #offerOf({ call, tool, args, body, key }: CallIn<"running">): Offer {
    const { attempt, run, manifest, payload } = body;
    const offer = { scope: this.#access.runner.id, call: call.ref, attempt, run, tool_id: manifest.id };
    return { ...offer, tool, args, payload, ...this.#completion(key) };
  }

  #completion(key: string | undefined): Pick<Offer, "completion_key"> {
    return key === undefined ? {} : { completion_key: this.#token(key) };
  }

  /**
   * Returns the completion key of an externally owned call, under which the outside may complete it without its
   * executor.
   */
  #keyOf({ call, recovery }: Execute): string | undefined {
    const { state } = this.#access.runner;
    const of = recovery === "externally_owned" ? state.calls.at(call)?.call : undefined;
    return of && completionKeyId({ executionScope: executionScopeIn(state, of.request), name: of.name });
  }

  /** Offers a call to an executor. Its owner is on record before the executor hears of it. */
  async execute(command: Execute): Promise<void> {
    const { runner } = this.#access;
    const { call, attempt, run, cause, tool_id: toolId } = command;
    const owner = this.#executors.pick(runner.id, toolId);
    const at = { call, attempt, run };
    const key = owner === undefined ? undefined : this.#keyOf(command);
    if (cause !== undefined) {
      const version = this.#versions.ofRun(runner.state, toolId);
      runner.apply({ type: "call.resumed", ...at, cause, owner: owner ?? this.#self, ...version });
    }
    if (owner !== undefined && (cause === undefined || key !== undefined))
      runner.apply({ type: "call.dispatched", ...at, owner, ...(key === undefined ? {} : { key }) });
    if (owner === undefined) {
      this.#missing.add(toolId);
      return void runner.apply({ type: "call.executor_missing", ...at });
    }
    const offer = { ...offerOf(runner.id, command), ...this.#completion(key) };
    this.#executors.hold(owner, offer);
    await runner.whenDurable();
    if (isRunBy(runner.state.calls.at(call), owner, offer)) this.#executors.give(owner, offer);
    else this.#executors.release(owner, offer);
  }

  cancel(run: Omit<OfferedRun, "scope">): void {
    this.#executors.cancel({ scope: this.#access.runner.id, ...run });
  }

  ended(call: string): void {
    this.#executors.ended(this.#access.runner.id, call);
  }

  /** Calls that waited for an executor of these tools start again, where one serves this scope. */
  available(tools: readonly string[]): void {
    const { runner } = this.#access;
    const isHere = (tool: string): boolean => this.#executors.pick(runner.id, tool) !== undefined;
    const wanted = [...new Set(tools)].filter((tool) => this.#missing.has(tool) && isHere(tool));
    for (const tool of wanted) this.#missing.delete(tool);
    if (wanted.length > 0) {
      const versions = this.#versions.ofTools(runner.state, wanted);
      runner.apply({ type: "executors.available", tools: wanted, ...versions });
    }
  }

  lost(owner: string, went: ExecutorEnd): void {
    const { runner } = this.#access;
    const isSaid = went === "released" && hasRule(runner.state.scope.protocol, "crash_loops");
    runner.apply({ type: "owner.lost", owner, ...(isSaid ? { went } : {}) });
  }

  /** Shows the progress of an executor's own run to observers; ignored for any other. */
  progress(owner: string, run: OfferedRun, said: ProgressSaid): void {
    const row = this.#access.runner.state.calls.at(run.call);
    if (row === undefined || !this.#executors.runs(owner, run) || !isRunBy(row, owner, run)) return;
    const { ref: call, id: label } = row.call;
    const progress = { type: "progress", call, tool: row.tool, label, ...said } as const;
    this.#observers.tell(progress, this.#access.runner);
  }

  async settle(owner: string, { output, duration_ms, ...at }: Settlement): Promise<Settled> {
    const { runner } = this.#access;
    const { scope: _, ...run } = at;
    if (!isRunBy(runner.state.calls.at(at.call), owner, at)) return this.#late(owner, { output, duration_ms, ...at });
    const settled = decodedEvent({ type: "call.settled", ...run, result: { type: "done", output }, duration_ms });
    this.#executors.release(owner, at);
    const told = runner.apply(settled);
    if (E.isLeft(told)) return refuse(this.#access, told.left);
    await runner.whenDurable();
    return "accepted";
  }

  /** Records the report for a call that ended without its executor, so that observers see it. */
  async #late(owner: string, { output, duration_ms, ...at }: Settlement): Promise<Settled> {
    const { runner } = this.#access;
    const { scope: _, ...run } = at;
    if (!this.#executors.release(owner, at)) {
      const message = `attempt ${at.attempt}, run ${at.run} of call \`${at.call}\` was not offered to \`${owner}\`, or is settled`;
      return refuse(this.#access, { code: "not_offered", message });
    }
    if (runner.state.calls.at(at.call) !== undefined)
      runner.apply(decodedEvent({ type: "call.settled_late", ...run, output, duration_ms }));
    await runner.whenDurable();
    return "too_late";
  }
}

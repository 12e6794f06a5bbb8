/** The API by which a host starts, reads, awaits, signals and ends processes, by their ids. */
import {
  type ProcessAwaitOutput,
  type ProcessEvent,
  type ProcessEventAppendRequest,
  type ProcessHandleSummary,
  type ProcessListMode,
  type ProcessRecord,
  type ProcessRegistration,
  type SessionScope,
  cancelRequest,
  completionRequest,
  handleProblem,
  handlesOf,
  notGranted,
  processScope,
  recordOf,
  registrationHash,
  sessionScopeId,
  signalRequest,
} from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { readRegistration } from "./registration.ts";
import { Refused, ScopeLost } from "../error.ts";
import { record } from "../scope/access.ts";
import { appendProcessEvent } from "./log.ts";
import { admittedId } from "../runtime-options.ts";
import type { Session } from "../session/session.ts";

/** The processes that live on after the session that held them was deleted: those without any holder left, and the others. */
export interface DeletionReport {
  readonly orphaned: readonly string[];
  readonly preserved: readonly string[];
}

export interface ProcessSignal {
  readonly name: string;
  readonly payload: Json;
  /** Identifies the signal: repeated under the same id, it is delivered once. */
  readonly signalId: string;
  /** The session in whose name the signal is sent; it needs a live handle. Without it the host signals. */
  readonly holder?: SessionScope;
}

const unknown = (id: string): Refused => new Refused("process_unknown", `unknown process \`${id}\``);

/** Starts, reads, awaits, signals and ends processes by their ids. */
export class Processes {
  readonly #open: (scope: string) => Promise<Session>;
  readonly #has: (scope: string) => Promise<boolean>;

  constructor(open: (scope: string) => Promise<Session>, has: (scope: string) => Promise<boolean>) {
    this.#open = open;
    this.#has = has;
  }

  /** Opens the scope of a process. */
  async scope(id: string): Promise<Session> {
    return this.#open(processScope(admittedId("process", id)));
  }

  /** Opens the scope of a process that exists. */
  async #known(id: string): Promise<Session> {
    if (!(await this.#has(processScope(admittedId("process", id))))) throw unknown(id);
    return this.scope(id);
  }

  #session({ session_id }: SessionScope): Promise<Session> {
    return this.#open(sessionScopeId({ session_id }));
  }

  /** Starts a process, or finds the one with the same registration. */
  async start(registration: ProcessRegistration): Promise<ProcessRecord> {
    const completed = readRegistration(registration);
    if (E.isLeft(completed)) throw new Refused(completed.left.code, completed.left.message);
    const hash = registrationHash(completed.right);
    const scope = await this.scope(registration.id);
    const applied = scope.runner.apply({ type: "process.registered", registration: completed.right, hash });
    await scope.runner.whenDurable();
    if (E.isLeft(applied) && applied.left.code !== "process_exists")
      throw new Refused(applied.left.code, applied.left.message);
    return this.#recordIn(scope, registration.id);
  }

  #recordIn(scope: Session, id: string): ProcessRecord {
    const row = scope.state.process;
    if (row === undefined) throw unknown(id);
    return recordOf(row);
  }

  async read(id: string): Promise<ProcessRecord> {
    const scope = await this.#known(id);
    await scope.runner.whenDurable();
    return this.#recordIn(scope, id);
  }

  /** Resolves with the output of the process once it has ended. An aborted signal asks it to end, and its real end is still awaited. */
  async await(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ProcessAwaitOutput> {
    const stop = (): void => void this.cancel(id, null).catch(() => undefined); // Its end is awaited in any case.
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.#end(id);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  async #end(id: string): Promise<ProcessAwaitOutput> {
    for (;;) {
      const scope = await this.#known(id);
      try {
        return await this.#endIn(scope, id);
      } catch (thrown) {
        if (!(thrown instanceof ScopeLost)) throw thrown; // Another owner has it: open it again.
      }
    }
  }

  async #endIn(scope: Session, id: string): Promise<ProcessAwaitOutput> {
    const ended = await scope.scopeLinks.watch.until(() => {
      const row = scope.state.process;
      if (row === undefined) throw unknown(id);
      return row.status.state === "running" ? undefined : row.status;
    });
    await scope.runner.whenDurable();
    return ended.await_output;
  }

  /** Asks a process to end. Repeated with the same reason, this changes nothing. */
  async cancel(id: string, reason: string | null): Promise<ProcessRecord> {
    await this.append(id, cancelRequest(id, reason).request);
    return this.read(id);
  }

  /** Ends a process with an output. Repeated with the same output, this changes nothing. */
  async complete(id: string, output: ProcessAwaitOutput): Promise<ProcessRecord> {
    await this.append(id, completionRequest(id, output));
    return this.read(id);
  }

  async append(id: string, request: ProcessEventAppendRequest): Promise<ProcessEvent> {
    return appendProcessEvent((await this.#known(id)).scopeLinks.scope, request);
  }

  async signal(id: string, { name, payload, signalId, holder }: ProcessSignal): Promise<ProcessEvent> {
    const request = signalRequest({ processId: id, name, signalId, payload });
    if (E.isLeft(request)) throw new Refused(request.left.code, request.left.message);
    const problem =
      holder === undefined
        ? undefined
        : handleProblem((await this.#session(holder)).state, holder, id, "process.signal");
    if (problem !== undefined) throw new Refused("handle_refused", problem);
    return this.append(id, request.right);
  }

  async list(
    holder: SessionScope,
    mode: ProcessListMode = "live",
    keep: (handle: ProcessHandleSummary) => boolean = () => true,
  ): Promise<readonly ProcessHandleSummary[]> {
    const session = await this.#session(holder);
    await session.runner.whenDurable();
    return handlesOf(session.state, holder, mode).filter(keep);
  }

  /** Throws unless the holder has handles on all these processes. */
  async validate(holder: SessionScope, ids: readonly string[]): Promise<void> {
    const held = new Set((await this.list(holder, "all")).map(({ id }) => id));
    const invalid = ids.find((id) => !held.has(id));
    if (invalid !== undefined) throw new Refused("handle_refused", notGranted(invalid, holder.session_id));
  }

  async transfer(from: SessionScope, to: SessionScope, processes: readonly string[]): Promise<void> {
    await (await this.#session(from)).report({ type: "handles.transferred", from, to, processes });
  }

  async cancelAll(holder: SessionScope, reason: string | null): Promise<readonly ProcessRecord[]> {
    return this.cancelUnreferenced(holder, [], reason);
  }

  /** Cancels the live processes of a holder, except those to keep. */
  async cancelUnreferenced(
    holder: SessionScope,
    keep: readonly string[],
    reason: string | null,
  ): Promise<readonly ProcessRecord[]> {
    const live = await this.list(holder, "live", ({ id }) => !keep.includes(id));
    return Promise.all(live.map(({ id }) => this.cancel(id, reason)));
  }

  /** Deletes a session: cancels its calls, revokes its waits and drops its handles. Its processes live on. */
  async deleteSession(sessionId: string): Promise<DeletionReport> {
    const session = await this.#session({ session_id: sessionId });
    for (const { request, phase } of session.state.requests.rows()) {
      if (phase === "running") session.runner.apply({ type: "request.cancelled", request });
    }
    await record(session.scopeLinks.scope, { type: "session.deleted" }, "session_deleted");
    const { orphaned, preserved } = await session.scopeLinks.watch.until(() => {
      const { deletion } = session.state;
      return deletion?.asked.length === 0 ? deletion : undefined;
    });
    await session.runner.whenDurable();
    return { orphaned, preserved };
  }
}

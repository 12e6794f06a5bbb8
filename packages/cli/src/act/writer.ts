/**
 * Records events in a scope that no live host owns.
 *
 * A claim makes this process the owner. It runs nothing: a call that would start is parked as one without an executor,
 * until a host opens the scope and has its tool. Work of earlier owners counts as lost, as after a crash.
 */
import { randomUUID } from "node:crypto";
import { type Append, type AppendResult, type Claim, Values, defaultBlobChars } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";
import { type Command, type Event, type Finished, type State, wakeAtOf, write } from "@pawl/sansio-core";
import { hasRule, newestProtocol } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { CliError, exit } from "../exit.ts";
import type { JournalFile } from "../journal-file.ts";
import { stateOf } from "../log/replay-log.ts";

const leaseMs = 30_000;

const claimFailed = (scope: string, claim: Exclude<Claim, { readonly type: "claimed" }>): CliError => {
  if (claim.type === "newer_protocol") {
    const message = `${scope} has protocol ${claim.protocol}, this pawl knows up to ${newestProtocol}`;
    return new CliError("newer_protocol", message, { exit: exit.unreachable, hint: "install a pawl that knows it" });
  }
  const { instance, address } = claim;
  const where = address === undefined ? "" : ` at ${address}`;
  return new CliError("owned_by", `${scope} is owned by ${instance}${where}, which is running`, {
    exit: exit.unreachable,
    hint:
      address === undefined
        ? "stop that process, or use it; for a host add --host ws://… --token <token>"
        : `ask that host: add --host ${address} --token <token>`,
  });
};

const appendFailed = (scope: string, result: Exclude<AppendResult, { readonly type: "ok" }>): CliError => {
  const why = result.type === "failed" ? result.message : result.type;
  const hint = "check with `pawl show` whether it was recorded";
  return new CliError(`append_${result.type}`, `${scope} refused it: ${why}`, { exit: exit.unreachable, hint });
};

/** Applies events to a claimed scope and collects their lines for one append. */
export class Writer {
  readonly #journal: JournalFile;
  readonly #epoch: number;
  readonly #now: () => number;
  readonly #first: number;
  readonly #lines: { readonly seq: number; readonly line: string }[] = [];
  readonly #finished: (Finished & { readonly seq: number })[] = [];
  readonly #values: Values;
  /** Large values that must be durable before the events that refer to them are appended. */
  readonly #kept: Promise<unknown>[] = [];
  state: State;

  constructor(journal: JournalFile, epoch: number, state: State, now: () => number) {
    this.#journal = journal;
    this.#epoch = epoch;
    this.#now = now;
    this.#first = state.seq + 1;
    this.state = state;
    const { blobs } = journal.journal;
    this.#values = new Values({ scope: state.scope.id, blobs, limit: defaultBlobChars, hashText });
  }

  #written(event: Event): ReturnType<typeof write> {
    const next = { seq: this.state.seq + 1, at: Math.max(this.#now(), this.state.at) };
    const written = write(this.state, { ...next, event });
    const referred = E.isLeft(written) ? undefined : this.#values.offload(event, this.state, written.right.line);
    if (referred === undefined) return written;
    this.#kept.push(referred.stored);
    return write(this.state, { ...next, event: referred.event });
  }

  /** Applies an event, or throws if the core rejects it. */
  apply(event: Event): void {
    const seq = this.state.seq + 1;
    const written = this.#written(event);
    if (E.isLeft(written)) {
      const { code, message } = written.left;
      throw new CliError(code, message, {
        exit: exit.refused,
        hint: `pawl why ${this.#journal.file}#${this.state.scope.id}`,
      });
    }
    this.state = written.right.state;
    this.#lines.push({ seq, line: written.right.line });
    this.#finished.push(...written.right.finished.map((one) => ({ seq, ...one })));
    for (const command of written.right.commands) this.#park(command);
  }

  #park(command: Command): void {
    if (command.type !== "tool.execute" || command.cause !== undefined) return;
    const { call, attempt, run } = command;
    this.apply({ type: "call.executor_missing", call, attempt, run });
  }

  /** Appends all lines at once, and marks the scope due so that the next host looks at it. */
  async flush(): Promise<void> {
    await Promise.all(this.#kept);
    const { id: scope, protocol } = this.state.scope;
    const wakeAt = wakeAtOf(this.state);
    const append: Append = {
      scope,
      epoch: this.#epoch,
      expectedSeq: this.#first,
      appendId: `${this.#epoch}:${this.#first}`,
      lines: this.#lines,
      finished: this.#finished,
      wakeAt: this.state.calls.size > 0 ? Math.min(wakeAt ?? Infinity, this.#now()) : wakeAt,
      approvals: this.state.awaitingApproval,
      protocol,
      messages: [],
      received: [],
    };
    const [result] = await this.#journal.journal.appendAll([append]);
    if (result?.type !== "ok") throw appendFailed(scope, result ?? { type: "failed", message: "no result" });
  }
}

/** Claims a scope, records the events of `work` in it, and releases it. */
export const writeInto = async (
  journal: JournalFile,
  scope: string,
  now: () => number,
  work: (writer: Writer) => void,
): Promise<State> => {
  const before = await stateOf(journal, scope);
  const instance = `pawl:${process.pid}:${randomUUID()}`;
  await journal.journal.join(instance, { ttlMs: leaseMs, protocol: newestProtocol });
  try {
    const claim = await journal.journal.claim(scope, instance, newestProtocol);
    if (claim.type !== "claimed") throw claimFailed(scope, claim);
    const state = claim.seq === before.seq ? before : await stateOf(journal, scope);
    const writer = new Writer(journal, claim.epoch, state, now);
    const { protocol, options } = state.scope;
    const patient = { ...options, no_executor_ms: Number.MAX_SAFE_INTEGER };
    const { epoch, lastOwner = "lost" } = claim;
    const told = hasRule(protocol, "crash_loops") ? { last_owner: lastOwner } : {};
    writer.apply({ type: "scope.opened", epoch, owner: instance, protocol, options: patient, ...told });
    work(writer);
    await writer.flush();
    return writer.state;
  } finally {
    await journal.journal.leave(instance);
  }
};

/**
 * The next state while one event is worked in. Concerns write rows, emit commands and raise signals through it; the
 * state it began from is never touched. A rejected event's draft is thrown away.
 */
import type { PersistentMap } from "./persistent-map.ts";
import type { StickyDecision } from "../call/approval.ts";
import type { BatchRow } from "../call/batch.ts";
import type { CallRow } from "../call/model.ts";
import type { CatalogRow } from "../catalog/model.ts";
import type { BatchRef, CallRef, Command, Finished, Signal, State } from "./vocabulary.ts";
import type { FlowRow } from "../flow/model.ts";
import type { Deadline } from "./deadline.ts";
import type { Options } from "./options.ts";
import type { DeletionRow, HandleRow } from "../link/handle.ts";
import type { LinkRow } from "../link/model.ts";
import type { OutboxRow } from "../link/outbox.ts";
import type { ProcessRow } from "../process/model.ts";
import type { RequestRow } from "../request/model.ts";
import type { ScopeRow } from "../scope/model.ts";
import type { Terminal, WaitRow } from "../wait/model.ts";

/** Counts what people have to decide in a call: the call itself, and what its body asks. */
export const approvalsOf = (row: CallRow | undefined): number => {
  let count = Number(row?.phase === "awaiting_approval");
  const body = row !== undefined && "body" in row ? row.body : undefined;
  for (const { approval } of body?.open ?? []) if (approval !== undefined) count += 1;
  return count;
};

export class Draft {
  readonly seq: number;
  readonly at: number;
  readonly commands: Command[] = [];
  readonly finished: Finished[] = [];
  /** The next state. */
  readonly #next: { -readonly [Field in keyof State]: State[Field] };
  readonly #signals: Signal[] = [];
  /** How many signals were taken out: that many come first in `#signals`. */
  #routed = 0;
  #toLaunch: Set<BatchRef> | undefined;
  readonly #deferred: Signal[] = [];
  /** The first deadline may be one that its call has no more: its row was written, or it has become the first just now. */
  #isFirstDueOpen = false;
  #answers = 0;

  constructor(before: State, seq: number, at: number) {
    this.seq = seq;
    this.at = at;
    this.#next = { ...before, seq, at };
  }

  /** The next state, as far as it has come. */
  get state(): State {
    return this.#next;
  }
  /** Writes a part of the next state. */
  set<Part extends keyof State>(part: Part, value: State[Part]): void {
    this.#next[part] = value;
  }

  get scope(): ScopeRow {
    return this.#next.scope;
  }
  get options(): Options {
    return this.#next.scope.options;
  }
  get catalog(): CatalogRow {
    return this.#next.catalog;
  }
  get unclaimed(): number {
    return this.#next.unclaimed;
  }
  get sticky(): PersistentMap<string, StickyDecision> {
    return this.#next.sticky;
  }
  get outbox(): PersistentMap<string, OutboxRow> {
    return this.#next.outbox;
  }
  get handles(): PersistentMap<string, HandleRow> {
    return this.#next.handles;
  }
  get links(): PersistentMap<string, LinkRow> {
    return this.#next.links;
  }
  get deletion(): DeletionRow | undefined {
    return this.#next.deletion;
  }
  get process(): ProcessRow | undefined {
    return this.#next.process;
  }

  request(id: string): RequestRow | undefined {
    return this.#next.requests.at(id);
  }
  batch(ref: BatchRef): BatchRow | undefined {
    return this.#next.batches.at(ref);
  }
  call(ref: string): CallRow | undefined {
    return this.#next.calls.at(ref);
  }
  wait(key: string): WaitRow | undefined {
    return this.#next.waits.at(key);
  }
  link(peer: string): LinkRow | undefined {
    return this.#next.links.get(peer);
  }
  flow(request: string): FlowRow | undefined {
    return this.#next.flows.get(request);
  }
  batches(): BatchRow[] {
    return this.#next.batches.rows();
  }
  calls(): CallRow[] {
    return this.#next.calls.rows();
  }
  waitKeys(): string[] {
    return this.#next.waits.keys();
  }

  setScope(scope: ScopeRow): void {
    this.#next.scope = scope;
  }
  setCatalog(catalog: CatalogRow): void {
    this.#next.catalog = catalog;
  }
  setSticky(tool: string, decision: StickyDecision): void {
    this.#next.sticky = this.#next.sticky.set(tool, decision);
  }
  putRequest(row: RequestRow): void {
    this.#next.requests = this.#next.requests.set(row.request, row);
  }
  dropRequest(id: string): void {
    this.#next.requests = this.#next.requests.delete(id);
    this.finished.push({ kind: "request", id });
  }
  putBatch(row: BatchRow): void {
    this.#next.batches = this.#next.batches.set(row.ref, row);
  }
  dropBatch(ref: BatchRef): void {
    this.#next.batches = this.#next.batches.delete(ref);
  }
  /** `before` is the row that is replaced, where there is one; `due` a deadline that it did not have. */
  putCall(row: CallRow, before: CallRow | undefined, due: Deadline | undefined): void {
    const { ref } = row.call;
    this.#touch(ref);
    this.#next.awaitingApproval += approvalsOf(row) - approvalsOf(before);
    if (due !== undefined) {
      this.#next.deadlines = this.#next.deadlines.add({ at: due.at, birth: due.birth, key: ref });
    }
    this.#next.calls = before === undefined ? this.#next.calls.set(ref, row) : this.#next.calls.replace(ref, row);
  }
  /** Writes calls that were just made: nobody decides on them yet, and they have no deadline. */
  putNewCalls(rows: readonly CallRow[]): void {
    for (const { call } of rows) this.#touch(call.ref);
    this.#next.calls = this.#next.calls.setAll(rows.map((row) => [row.call.ref, row]));
  }
  dropCalls(refs: readonly CallRef[]): void {
    for (const ref of refs) {
      this.#touch(ref);
      if (this.#next.awaitingApproval > 0) this.#next.awaitingApproval -= approvalsOf(this.#next.calls.at(ref));
      this.finished.push({ kind: "call", id: ref });
    }
    this.#next.calls = this.#next.calls.deleteAll(refs);
  }
  putWait(row: WaitRow): void {
    this.#next.waits = this.#next.waits.set(row.key, row);
  }
  /** `terminal`: how it ended, where it did. */
  dropWait(key: string, terminal: Terminal | undefined): void {
    this.#next.waits = this.#next.waits.delete(key);
    this.finished.push({ kind: "wait", id: key, ...(terminal === undefined ? {} : { seq: terminal.seq }) });
    if (terminal === undefined) this.finished.push({ kind: "wait_left", id: key });
    else if (terminal.resolution.status === "timeout") this.finished.push({ kind: "wait_timed_out", id: key });
  }
  countUnclaimed(change: number): void {
    this.#next.unclaimed += change;
  }
  putOutbox(row: OutboxRow): void {
    this.#next.outbox = this.#next.outbox.set(row.key, row);
  }
  dropOutbox(key: string): void {
    if (this.#next.outbox.get(key)?.type === "wake.deliver") this.finished.push({ kind: "wake", id: key });
    this.#next.outbox = this.#next.outbox.delete(key);
  }

  /** A link without an end is none. */
  putLink(row: LinkRow): void {
    const isOver = row.incoming === undefined && row.outgoing === undefined;
    this.#next.links = isOver ? this.#next.links.delete(row.peer) : this.#next.links.set(row.peer, row);
  }
  finishLink(id: string): void {
    this.finished.push({ kind: "link", id });
  }
  putHandle(row: HandleRow): void {
    this.#next.handles = this.#next.handles.set(row.process, row);
  }
  dropHandle(process: string): void {
    this.#next.handles = this.#next.handles.delete(process);
  }
  setDeletion(row: DeletionRow): void {
    this.#next.deletion = row;
  }
  setProcess(row: ProcessRow): void {
    this.#next.process = row;
  }

  putFlow(row: FlowRow): void {
    this.#next.flows = this.#next.flows.set(row.request, row);
  }
  dropFlow(request: string): void {
    this.#next.flows = this.#next.flows.delete(request);
  }

  emit(command: Command): void {
    this.commands.push(command);
  }
  raise(signal: Signal): void {
    this.#signals.push(signal);
  }
  /** Asks for launches from a batch: once, however many of its calls moved before it comes to that. */
  raiseLaunch(batch: BatchRef): void {
    this.#toLaunch ??= new Set();
    if (this.#toLaunch.has(batch)) return;
    this.#toLaunch.add(batch);
    this.raise({ type: "calls.launch", batch });
  }
  /** Raises a signal that is heard when no other is left, since its handler may raise the same ones again. */
  defer(signal: Signal): void {
    this.#deferred.push(signal);
  }
  nextSignal(): Signal | undefined {
    const isQuiet = this.#routed === this.#signals.length;
    const signal = isQuiet ? this.#deferred.shift() : this.#signals[this.#routed++];
    if (signal?.type === "calls.launch") this.#toLaunch?.delete(signal.batch);
    return signal;
  }
  /** The place of the next answer among those of this event. */
  nextAnswer(): number {
    return this.#answers++;
  }

  /** The first deadline is looked at only where its call was written, or where it has become the first just now. */
  #touch(ref: string): void {
    if (this.#next.deadlines.next?.key === ref) this.#isFirstDueOpen = true;
  }

  get isFirstDueOpen(): boolean {
    return this.#isFirstDueOpen;
  }
  openFirstDue(isOpen: boolean): void {
    this.#isFirstDueOpen = isOpen;
  }
}

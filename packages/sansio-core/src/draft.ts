/**
 * The next state while one event is worked in. Concerns write rows, emit commands and raise signals through it; the
 * state it began from is never touched. A rejected event's draft is thrown away.
 */
import type { PersistentMap } from "./persistent-map.ts";
import type { StickyDecision } from "./approval/model.ts";
import type { BatchRow } from "./batch/model.ts";
import { type CallRow, awaitsApproval, dueOf } from "./call/model.ts";
import type { CatalogRow } from "./catalog/model.ts";
import type { Command } from "./command.ts";
import type { Finished } from "./finished.ts";
import type { FlowRow, StepEnd } from "./flow/model.ts";
import { Deadlines, type Passed, earlierOf, isSameDeadline } from "./deadline.ts";
import type { BatchRef, CallRef } from "./ids.ts";
import type { Options } from "./options.ts";
import type { DeletionRow, HandleRow } from "./handle/model.ts";
import type { LinkRow } from "./link/model.ts";
import type { OutboxRow } from "./outbox/model.ts";
import type { ProcessRow } from "./process/model.ts";
import type { RequestRow } from "./request/model.ts";
import type { ScopeRow } from "./scope/model.ts";
import type { Signal } from "./signal.ts";
import { type State, duesOf, isTrueDue } from "./state.ts";
import type { Table } from "./table.ts";
import type { Terminal, WaitRow } from "./wait/model.ts";

type LongWork = Pick<State, "background" | "schedules">;

export class Draft {
  readonly seq: number;
  readonly at: number;
  readonly commands: Command[] = [];
  readonly finished: Finished[] = [];
  /** Tasks, runs and schedules: each has its own writer, in its `table.ts`. */
  work: LongWork;
  readonly #signals: Signal[] = [];
  #toLaunch: Set<BatchRef> | undefined;
  #scope: ScopeRow;
  #catalog: CatalogRow;
  #requests: Table<RequestRow>;
  #batches: Table<BatchRow>;
  #calls: Table<CallRow>;
  #awaitingApproval: number;
  #waits: Table<WaitRow>;
  #unclaimed: number;
  #sticky: PersistentMap<string, StickyDecision>;
  #outbox: PersistentMap<string, OutboxRow>;
  #links: PersistentMap<string, LinkRow>;
  #handles: PersistentMap<string, HandleRow>;
  deletion: DeletionRow | undefined;
  process: ProcessRow | undefined;
  #flows: PersistentMap<string, FlowRow>;
  readonly #stepEnds: StepEnd[] = [];
  #deadlines: Deadlines;
  /** Whether the first deadline may be one that its call has no more. */
  #isFirstOpen = false;
  #answers = 0;

  constructor(before: State, seq: number, at: number) {
    this.seq = seq;
    this.at = at;
    this.#scope = before.scope;
    this.#catalog = before.catalog;
    this.#requests = before.requests;
    this.#batches = before.batches;
    this.#calls = before.calls;
    this.#awaitingApproval = before.awaitingApproval;
    this.#waits = before.waits;
    this.#unclaimed = before.unclaimed;
    this.#sticky = before.sticky;
    this.#outbox = before.outbox;
    this.#links = before.links;
    this.#handles = before.handles;
    this.deletion = before.deletion;
    this.process = before.process;
    this.#flows = before.flows;
    this.work = { background: before.background, schedules: before.schedules };
    this.#deadlines = before.deadlines;
  }

  get scope(): ScopeRow {
    return this.#scope;
  }
  get options(): Options {
    return this.#scope.options;
  }
  get catalog(): CatalogRow {
    return this.#catalog;
  }
  get unclaimed(): number {
    return this.#unclaimed;
  }
  get sticky(): PersistentMap<string, StickyDecision> {
    return this.#sticky;
  }
  get outbox(): PersistentMap<string, OutboxRow> {
    return this.#outbox;
  }
  get handles(): PersistentMap<string, HandleRow> {
    return this.#handles;
  }
  get links(): PersistentMap<string, LinkRow> {
    return this.#links;
  }

  request(id: string): RequestRow | undefined {
    return this.#requests.at(id);
  }
  batch(ref: BatchRef): BatchRow | undefined {
    return this.#batches.at(ref);
  }
  call(ref: string): CallRow | undefined {
    return this.#calls.at(ref);
  }
  wait(key: string): WaitRow | undefined {
    return this.#waits.at(key);
  }
  link(peer: string): LinkRow | undefined {
    return this.#links.get(peer);
  }
  flow(request: string): FlowRow | undefined {
    return this.#flows.get(request);
  }
  batches(): BatchRow[] {
    return this.#batches.rows();
  }
  calls(): CallRow[] {
    return this.#calls.rows();
  }
  waits(): WaitRow[] {
    return this.#waits.rows();
  }

  setScope(scope: ScopeRow): void {
    this.#scope = scope;
  }
  setCatalog(catalog: CatalogRow): void {
    this.#catalog = catalog;
  }
  setSticky(tool: string, decision: StickyDecision): void {
    this.#sticky = this.#sticky.set(tool, decision);
  }
  putRequest(row: RequestRow): void {
    this.#requests = this.#requests.set(row.request, row);
  }
  dropRequest(id: string): void {
    this.#requests = this.#requests.delete(id);
    this.finished.push({ kind: "request", id });
  }
  putBatch(row: BatchRow): void {
    this.#batches = this.#batches.set(row.ref, row);
  }
  dropBatch(ref: BatchRef): void {
    this.#batches = this.#batches.delete(ref);
  }
  /** `before` is the row that is replaced, where there is one. */
  putCall(row: CallRow, before: CallRow | undefined): void {
    const { ref } = row.call;
    this.#touch(ref);
    this.#awaitingApproval += Number(awaitsApproval(row)) - Number(awaitsApproval(before));
    const due = dueOf(row);
    if (due !== undefined && !(before !== undefined && isSameDeadline(dueOf(before), due))) {
      this.#deadlines = this.#deadlines.add({ at: due.at, birth: due.birth, key: ref });
    }
    this.#calls = before === undefined ? this.#calls.set(ref, row) : this.#calls.replace(ref, row);
  }
  dropCall(ref: CallRef): void {
    this.#touch(ref);
    this.#awaitingApproval -= Number(awaitsApproval(this.#calls.at(ref)));
    this.#calls = this.#calls.delete(ref);
    this.finished.push({ kind: "call", id: ref });
  }
  putWait(row: WaitRow): void {
    this.#waits = this.#waits.set(row.key, row);
  }
  /** `terminal`: how it ended, where it did. */
  dropWait(key: string, terminal: Terminal | undefined): void {
    this.#waits = this.#waits.delete(key);
    this.finished.push({ kind: "wait", id: key, ...(terminal === undefined ? {} : { seq: terminal.seq }) });
    if (terminal === undefined) this.finished.push({ kind: "wait_left", id: key });
    else if (terminal.resolution.status === "timeout") this.finished.push({ kind: "wait_timed_out", id: key });
  }
  countUnclaimed(change: number): void {
    this.#unclaimed += change;
  }
  putOutbox(row: OutboxRow): void {
    this.#outbox = this.#outbox.set(row.key, row);
  }
  dropOutbox(key: string): void {
    if (this.#outbox.get(key)?.type === "wake.deliver") this.finished.push({ kind: "wake", id: key });
    this.#outbox = this.#outbox.delete(key);
  }

  /** A link without an end is none. */
  putLink(row: LinkRow): void {
    const isOver = row.incoming === undefined && row.outgoing === undefined;
    this.#links = isOver ? this.#links.delete(row.peer) : this.#links.set(row.peer, row);
  }
  finishLink(id: string): void {
    this.finished.push({ kind: "link", id });
  }
  putHandle(row: HandleRow): void {
    this.#handles = this.#handles.set(row.process, row);
  }
  dropHandle(process: string): void {
    this.#handles = this.#handles.delete(process);
  }
  setDeletion(row: DeletionRow): void {
    this.deletion = row;
  }
  setProcess(row: ProcessRow): void {
    this.process = row;
  }

  putFlow(row: FlowRow): void {
    this.#flows = this.#flows.set(row.request, row);
  }
  dropFlow(request: string): void {
    this.#flows = this.#flows.delete(request);
  }
  setWork(part: Partial<LongWork>): void {
    this.work = { ...this.work, ...part };
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
  nextSignal(): Signal | undefined {
    const signal = this.#signals.shift();
    if (signal?.type === "calls.launch") this.#toLaunch?.delete(signal.batch);
    return signal;
  }
  /** What a flow waited for: it goes on when the signals are through, since it may raise the same ones again. */
  endStep(end: StepEnd): void {
    this.#stepEnds.push(end);
  }
  nextStepEnd(): StepEnd | undefined {
    return this.#stepEnds.shift();
  }
  /** The place of the next answer among those of this event. */
  nextAnswer(): number {
    return this.#answers++;
  }

  /** The call or schedule whose deadline passed first, a call's taken off; who it is sets a new one, or none. */
  takePassed(): Passed | undefined {
    this.#cleanDeadlines();
    const due = earlierOf(this.#deadlines.next, this.work.schedules.due);
    if (due === undefined || due.at > this.at) return undefined;
    if (due === this.work.schedules.due) return { of: "schedule", key: due.key };
    this.#deadlines = this.#deadlines.withoutNext();
    this.#isFirstOpen = true;
    return { of: "call", key: due.key };
  }

  /** The first deadline is looked at only where its call was written, or where it has become the first just now. */
  #touch(ref: string): void {
    if (this.#deadlines.next?.key === ref) this.#isFirstOpen = true;
  }

  /** Deadlines that no row has any more are dropped where they come first, and all at once where they are too many. */
  #cleanDeadlines(): void {
    const calls = this.#calls;
    const isCrowded = this.#deadlines.size > 4 * calls.size + 64;
    if (!this.#isFirstOpen && !isCrowded) return;
    this.#deadlines = isCrowded ? Deadlines.of(duesOf(calls)) : this.#deadlines.settled((due) => isTrueDue(calls, due));
    this.#isFirstOpen = false;
  }

  finish(): State {
    this.#cleanDeadlines();
    return {
      scope: this.#scope,
      seq: this.seq,
      at: this.at,
      catalog: this.#catalog,
      requests: this.#requests,
      batches: this.#batches,
      calls: this.#calls,
      awaitingApproval: this.#awaitingApproval,
      waits: this.#waits,
      unclaimed: this.#unclaimed,
      sticky: this.#sticky,
      outbox: this.#outbox,
      links: this.#links,
      handles: this.#handles,
      deletion: this.deletion,
      process: this.process,
      flows: this.#flows,
      background: this.work.background,
      schedules: this.work.schedules,
      deadlines: this.#deadlines,
    };
  }
}

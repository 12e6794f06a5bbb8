/** The runtime of one process: opens scopes over a journal, and runs their tools. */
import { defaultOptions } from "@pawl/sansio-core";
import { defaultPatience } from "./body/stop.ts";
import { Admission } from "./session/admission.ts";
import { Alarms } from "./scope/alarms.ts";
import { type AwaitingPage, type ScopeAwaiting, scopesAwaiting } from "./session/approval.ts";
import { Background } from "./process/run/background.ts";
import { viewsOf } from "./process/run/session-work.ts";
import { memoryAttachments } from "./journal/attachment.ts";
import { ScopeLost } from "./error.ts";
import { ExecutorVerbs } from "./session/executor/verbs.ts";
import { Shutdown } from "./lifecycle/shutdown.ts";
import type { Holding } from "./journal/journal.ts";
import { type HeldLease, heldLease } from "./lifecycle/lease.ts";
import { type Evicted, IdleCache, evictedUntil, defaultLinger, abandonEvicted } from "./lifecycle/idle-cache.ts";
import { InboxPoller, mayCreate } from "./process/message/inbox-poller.ts";
import { logged, tellSpans } from "./log.ts";
import { Moves } from "./move/move.ts";
import { begun, claimed, isStored, openState, openedBy, wholly } from "./scope/load-scope.ts";
import { Processes } from "./process/process.ts";
import { Recovery } from "./lifecycle/recovery.ts";
import type { Platform } from "./platform.ts";
import { Registry, ToolNews } from "./tool/registry.ts";
import type { HostPort } from "./host/host-request.ts";
import { Session } from "./session/session.ts";
import { Callers } from "./session/request.ts";
import { answersOf } from "./host/tool-host.ts";
import { type RuntimeOptions, executorLeaseMs, pollMs } from "./runtime-options.ts";
import { RejectedSizes } from "./scope/rejected-sizes.ts";
import { ScopeClock } from "./scope/clock.ts";
import { admittedId, admittedOptions } from "./lifecycle/input.ts";
import { snapshotsOf } from "./scope/snapshots.ts";
import { sweepFromTimeToTime } from "./journal/sweep.ts";
import { CommitLoop } from "./scope/commit-loop.ts";
import { valuesOf } from "./scope/values.ts";

/** Opens sessions over a journal and runs their tools, until it is closed. */
export class Runtime {
  readonly #with: RuntimeOptions;
  readonly registry: Registry;
  readonly #news: ToolNews;
  readonly #loop: CommitLoop;
  readonly #alarms: Alarms;
  readonly #platform: Platform;
  readonly #lease: HeldLease | undefined;
  readonly #host: HostPort;
  readonly #inboxPoller: InboxPoller;
  readonly #recovery: Recovery;
  /** What the host does with processes; and with background runs, tasks and schedules. */
  readonly processes: Processes;
  readonly background: Background;
  readonly #open = new Map<string, Promise<Session>>();
  readonly #evicted = new Map<string, Evicted>();
  readonly #idle: IdleCache<Session>;
  readonly #executors: ExecutorVerbs;
  readonly #attachments = memoryAttachments();
  readonly #admission: Admission;
  readonly #rejectedSizes: RejectedSizes;
  readonly #shutdown = new Shutdown();
  #closed: Promise<void> | undefined;
  /** Scopes that move to other hosts, and here. */
  readonly moves: Moves;

  readonly #fault = (what: string, thrown: unknown): void => this.#with.host?.fault?.(what, thrown);

  constructor(given: RuntimeOptions) {
    const options = logged(admittedOptions(given));
    this.#with = options;
    this.registry = options.tools instanceof Registry ? options.tools : new Registry(options.tools);
    this.#admission = new Admission(options.bounds);
    this.#loop = new CommitLoop(options.journal, options.platform);
    this.#alarms = new Alarms(options.platform);
    this.#platform = this.#alarms.platform;
    this.#rejectedSizes = new RejectedSizes(this.#platform);
    this.#idle = new IdleCache(this.#platform, { ...defaultLinger, ...options.linger }, this.#evict);
    this.#lease = heldLease(options, {
      platform: this.#platform,
      lost: () => this.#loseAll("the lease ran out"),
      held: () => this.#recovery.go(),
      fault: this.#fault,
    });
    this.#executors = new ExecutorVerbs({
      platform: this.#platform,
      leaseMs: options.executorLeaseMs ?? executorLeaseMs,
      scope: this.#scope,
      open: this.#open,
    });
    this.#news = new ToolNews(this.registry, options.platform, this.#open);
    this.processes = new Processes(this.#scope, (scope) => this.has(scope));
    this.background = new Background((scope) => this.#scope(scope), this.registry, options);
    this.moves = new Moves({
      ...options,
      shutdown: this.#shutdown,
      joined: async () => this.#lease?.joined,
      isOpen: (scope) => this.#open.has(scope) || this.#evicted.has(scope),
      has: (scope) => this.has(scope),
      open: (scope) => this.#scope(scope),
    });
    this.#host = { environment: async () => this.registry.catalog(), ...options.host };
    this.#inboxPoller = new InboxPoller({
      platform: this.#platform,
      instance: options.instance,
      mailed: async (...of) => (this.#lease?.holds === false ? [] : options.journal.mailed(...of)),
      isShared: this.#lease !== undefined,
      open: (scope) => this.#scope(scope),
      isHere: async (scope) => (await this.has(scope)) || mayCreate(options.journal, scope),
      report: (what, thrown) => options.host?.internalError?.(what, thrown),
    });
    this.#recovery = new Recovery({
      ...options,
      platform: this.#platform,
      open: (scope) => this.#scope(scope),
      isOpen: this.#open,
      collect: () => this.#inboxPoller.collect(),
      fault: this.#fault,
    });
    if (this.#lease !== undefined) this.#inboxPoller.watch(options.pollMs ?? pollMs);
    sweepFromTimeToTime({ ...options, platform: this.#platform, fault: this.#fault });
  }

  /** How often the store was asked to sync: one commit may hold many appends. */
  get commits(): number {
    return this.#loop.commits;
  }

  /** How many scopes are in memory. */
  get inMemory(): number {
    return this.#open.size;
  }

  /** The session of this id: claimed, folded from its log, and going on with what was under way. */
  async session(id: string): Promise<Session> {
    return this.#scope(`session:${admittedId("session", id)}`);
  }

  /** Whether there is a scope of this name, without making one. */
  async has(scope: string): Promise<boolean> {
    this.#shutdown.pass();
    return this.#open.has(scope) || isStored(this.#with.journal, scope);
  }

  /** The scopes of its store of which calls wait for a person's word, page by page; `approvals` of a session says for what. */
  async awaitingApproval(page: AwaitingPage = {}): Promise<readonly ScopeAwaiting[]> {
    this.#shutdown.pass();
    return scopesAwaiting(this.#with.journal, page);
  }

  /** Goes on with what nobody looks after: work, words on their way, deadlines that have passed. A lease does so itself. */
  async recover(): Promise<void> {
    this.#shutdown.pass();
    await this.#recovery.beat();
  }

  /** Others are told to reach this instance here, unless its lease names a place. */
  async announce(address: string): Promise<void> {
    await this.#lease?.reachedAt(address);
  }

  /** Moves a scope to another host, and resolves when it lives there. */
  readonly move: Moves["move"] = (...of) => this.moves.move(...of);

  readonly #scope = (scope: string): Promise<Session> => {
    const { refusal } = this.#shutdown;
    if (refusal !== undefined) return Promise.reject(refusal);
    const known = this.#open.get(scope);
    if (known !== undefined) return known;
    const evicted = this.#evicted.get(scope);
    this.#evicted.delete(scope);
    evicted?.callOff?.();
    const open = evicted === undefined ? this.#claim(scope) : this.#load(scope, evicted);
    this.#open.set(scope, open);
    open.catch(() => this.#open.get(scope) === open && this.#open.delete(scope));
    return open;
  };

  /** An executor of `client_side` tools is here; what this gives back says that its connection is gone, or itself. */
  readonly register: ExecutorVerbs["register"] = (executor) => this.#executors.register(executor);

  /** An executor reports what came of a run that was offered to it. */
  readonly settle: ExecutorVerbs["settle"] = (...of) => this.#executors.settle(...of);

  /** What an executor says of a run of its own while it lasts: observers hear of it. */
  readonly progress: ExecutorVerbs["progress"] = (...of) => this.#executors.progress(...of);

  /** A scope at rest leaves memory, if nothing but its log is needed to go on with it. */
  readonly #evict = (session: Session): void => {
    if (!session.isIdle) return;
    const { id } = session.runner;
    this.#open.delete(id);
    const wake = (): void => void this.#scope(id).catch((why: unknown) => this.#fault(`${id} was not woken`, why));
    this.#evicted.set(id, evictedUntil(session.runner, session.leave(), this.#platform, wake));
  };

  #loseAll(why: string): void {
    for (const open of this.#open.values()) void open.then(({ runner }) => runner.abandon(why)).catch(() => undefined); // It is lost already.
    abandonEvicted(this.#evicted, why);
  }

  /** Admits nothing more, ends all bodies as if by a crash, and leaves when all that was stepped is durable. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#shutdown.close();
    this.#inboxPoller.stop();
    await Promise.allSettled([...this.#open.values()].map(async (open) => (await open).close()));
    this.#loseAll("the runtime was closed");
    this.#lease?.stop();
    this.#alarms.stop();
    await this.#with.journal.leave(this.#with.instance);
  }

  /** A scope that left memory comes back as it was: that is no claim, and nobody was lost. */
  async #load(scope: string, { callers = new Callers(), ...away }: Evicted): Promise<Session> {
    try {
      const held = await this.#with.journal.load(scope, this.#with.instance);
      if (held !== undefined) {
        const session = await this.#session(scope, held, { ...away, callers });
        return await wholly(session, () => this.#news.tell(session));
      }
    } catch (thrown) {
      callers.abandon(new ScopeLost(`scope ${scope} could not be loaded: ${String(thrown)}`));
      throw thrown;
    }
    callers.abandon(new ScopeLost(`scope ${scope} was claimed by another instance`));
    return this.#claim(scope);
  }

  async #claim(scope: string): Promise<Session> {
    const { instance, options = {} } = this.#with;
    await this.#lease?.joined;
    const claim = await claimed(this.#with, scope);
    const session = await this.#session(scope, claim);
    const told = { ...defaultOptions, ...answersOf(this.#host), ...options };
    return wholly(session, async () => {
      await tellSpans(this.#with, session.state);
      const opened = openedBy(session.state, { owner: instance, epoch: claim.epoch }, told);
      await session.open(opened, this.registry.catalog());
      this.#inboxPoller.told(scope);
    });
  }

  async #session(scope: string, { epoch, snapshot }: Holding, evicted: Evicted = {}): Promise<Session> {
    const { callers = new Callers(), clock = new ScopeClock(this.#platform) } = evicted;
    const { journal, instance, roots } = this.#with;
    const opened = await openState(journal, scope, snapshot, (what) => this.#fault(`${scope}: ${what}`, snapshot));
    const { state } = opened;
    if (state.scope.status.type !== "open") {
      await this.moves.conclude(state, epoch);
      return this.#session(scope, { epoch, seq: state.seq + 1 }, evicted);
    }
    const session: Session = new Session(state, epoch, {
      platform: this.#platform,
      clock,
      fault: (what, thrown) => this.#fault(`${scope}: ${what}`, thrown),
      values: valuesOf(this.#with, scope, () => session.runner.isAbandoned, this.#rejectedSizes),
      owner: instance,
      roots,
      secrets: async () => (await journal.moves?.secrets(scope)) ?? [],
      executors: this.#executors.all,
      patience: { ...defaultPatience, ...this.#with.patience },
      host: this.#host,
      telemetry: this.#with.telemetry,
      admission: this.#admission,
      sent: (to) => this.#inboxPoller.told(to),
      messages: () => journal.inbox(scope),
      places: this.background.places,
      background: this.background.options,
      ...viewsOf(journal, this.#open),
      attachments: this.#host.attachments ?? this.#attachments,
      tool: (id) => this.registry.live(id),
      schedule: (member) => this.#loop.schedule(member),
      isLeased: () => this.#lease?.holds === true,
      hasLapsed: () => this.#lease?.holds === false,
      readLines: (from, to) => journal.read(scope, from, to),
      find: (kind, id) => journal.find(scope, kind, id),
      callers,
      begun: () => begun(journal, scope),
      opened,
      snapshots: snapshotsOf(this.#with, scope, epoch),
      rest: (resting) => this.#idle.rest(resting),
      shutdown: this.#shutdown,
      reopen: () => this.#scope(scope),
      lost: () => {
        this.#idle.forget(session);
        this.#open.delete(scope);
      },
    });
    session.runner.schedule();
    return session;
  }
}

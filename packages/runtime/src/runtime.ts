/**
 * The runtime of one process: opens scopes over a journal, and runs their tools. Builds the parts, and connects them.
 */
import { LogPages } from "./session/observe/log-page.ts";
import { defaultPatience } from "./body/body-end.ts";
import type { HostSide } from "./host/host.ts";
import { HostRequests } from "./host/host-request.ts";
import { type AttachmentStore, memoryAttachments } from "./journal/blob.ts";
import { sweepFromTimeToTime } from "./journal/sweep.ts";
import { CrashTurns } from "./lifecycle/crash-turn.ts";
import { type HeldLease, heldLease, type Readiness, Shutdown } from "./lifecycle/lease.ts";
import { Recovery } from "./lifecycle/recovery.ts";
import { type RuntimeOptions, admittedId, admittedOptions, defaults, pollMsOf } from "./runtime-options.ts";
import { logged } from "./log.ts";
import { Moves } from "./move/move.ts";
import { InboxPoller, mayCreate } from "./message/inbox-poller.ts";
import { Processes } from "./process/process.ts";
import { Background } from "./process/run/background.ts";
import { Schedules } from "./process/run/schedules.ts";
import { viewsOf } from "./process/run/session-work.ts";
import { QueueDoor } from "./queue/door.ts";
import { type Resolution, hkdf, utf8 } from "@pawl/tool-value";
import { Alarms } from "./scope/clock.ts";
import { type Resolved, scopeSigned, unknownKey } from "./session/resolve.ts";
import { CommitLoop } from "./commit/commit-loop.ts";
import { Admission } from "./session/admission.ts";
import { type AwaitingPage, type ScopeAwaiting, scopesAwaiting } from "./session/approval.ts";
import { ExecutorVerbs } from "./session/executor/executor.ts";
import type { Instance } from "./session/instance.ts";
import { Scopes } from "./session/scopes.ts";
import type { SessionOptions } from "./host/about.ts";
import { type SessionEntry, SessionList, type SessionPage } from "./session/listed.ts";
import type { Session } from "./session/session.ts";
import { Registry } from "./tool/registry.ts";
import { CodeVersions } from "./tool/version.ts";
import { ModelPlaces } from "./turn/pace.ts";

/** Opens sessions over a journal and runs their tools, until it is closed. */
export class Runtime {
  readonly #options: RuntimeOptions;
  readonly #attachments: AttachmentStore;
  readonly registry: Registry;
  readonly #loop: CommitLoop;
  readonly #alarms: Alarms;
  readonly #lease: HeldLease | undefined;
  readonly #inboxPoller: InboxPoller;
  readonly #recovery: Recovery;
  readonly #scopes: Scopes;
  readonly #executors: ExecutorVerbs;
  readonly #queues: QueueDoor;
  readonly #shutdown = new Shutdown();
  readonly #hostRequests = new HostRequests();
  readonly #sessions: SessionList;
  readonly #waits: { url?: string | undefined } = {};
  /** Processes, as the host works with them. */
  readonly processes: Processes;
  /** Background runs, tasks and schedules, as the host works with them. */
  readonly background: Background;
  /** Texts that sessions are told at a time. */
  readonly schedules: Schedules;
  /** Scopes that move to other hosts, and here. */
  readonly moves: Moves;
  readonly #stopListening: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(given: RuntimeOptions) {
    const options = logged(admittedOptions(given));
    const { journal, instance, host } = options;
    const fault = (what: string, thrown: unknown): void => host?.fault?.(what, thrown);
    this.#options = options;
    this.#attachments = host?.attachments ?? memoryAttachments();
    this.registry = options.tools instanceof Registry ? options.tools : new Registry(options.tools);
    this.#loop = new CommitLoop(journal, options.platform);
    this.#alarms = new Alarms(options.platform);
    const { platform } = this.#alarms;
    this.background = new Background(this.#open, this.registry, options);
    this.schedules = new Schedules(this.background);
    this.#executors = new ExecutorVerbs({
      platform,
      leaseMs: options.executorLeaseMs ?? defaults.executorLeaseMs,
      scope: this.#open,
      open: () => this.#scopes.inMemory.keys(),
    });
    this.#queues = new QueueDoor(options, { platform, mayAsk: () => this.#lease?.holds !== false, fault });
    this.#scopes = new Scopes(options, this.#instanceOf(options), this.#hostSide(options), {
      registry: this.registry,
      moves: () => this.moves,
      joined: () => this.#lease?.joined,
    });
    this.#sessions = new SessionList(journal, (scope) => this.#scopes.inMemory.get(scope));
    const lost = (): void => this.#scopes.abandonAll("the lease ran out");
    this.#lease = heldLease(options, { platform, lost, held: this.#look, fault });
    this.processes = new Processes(this.#open, (scope) => this.has(scope));
    this.moves = new Moves({
      ...options,
      shutdown: this.#shutdown,
      joined: async () => this.#lease?.joined,
      isOpen: (scope) => this.#scopes.isOpen(scope),
      has: (scope) => this.has(scope),
      open: this.#open,
    });
    this.#inboxPoller = new InboxPoller({
      platform,
      instance,
      mailed: async (...of) => (this.#lease?.holds === false ? [] : journal.mailed(...of)),
      isShared: this.#lease !== undefined,
      open: this.#open,
      isHere: async (scope) => (await this.has(scope)) || mayCreate(journal, scope),
      report: (what, thrown) => host?.internalError?.(what, thrown),
    });
    this.#recovery = new Recovery({
      ...options,
      platform,
      open: this.#open,
      isOpen: this.#scopes.lookedAfter,
      collect: () => this.#inboxPoller.collect(),
      fault,
    });
    const mail = (scope: string): void => this.#inboxPoller.notify(scope);
    journal.outbox?.listen(mail);
    if (this.#lease !== undefined) {
      this.#inboxPoller.watch(pollMsOf(options));
      this.#stopListening = journal.listen?.(instance, { mail, look: this.#look, places: this.#queues.wake });
    }
    sweepFromTimeToTime({ ...options, platform, fault });
  }

  /** Takes up what nobody looks after, while this runtime takes new work. */
  readonly #look = (): void => (this.readiness === "ready" ? this.#recovery.go() : undefined);

  readonly #open = (scope: string): Promise<Session> => this.#scopes.open(scope);
  #instanceOf({ journal, instance, bounds, telemetry, patience, turns }: RuntimeOptions): Instance {
    return {
      owner: instance,
      platform: this.#alarms.platform,
      telemetry,
      patience: { ...defaultPatience, ...patience },
      admission: new Admission(bounds),
      pages: new LogPages(),
      executors: this.#executors.all,
      hostRequests: this.#hostRequests,
      places: this.background.places,
      models: new ModelPlaces(turns),
      crashTurns: new CrashTurns(this.#alarms.platform),
      queues: this.#queues,
      shutdown: this.#shutdown,
      schedule: (member) => this.#loop.schedule(member),
      isLeased: () => this.#lease?.holds === true,
      hasLapsed: () => this.#lease?.holds === false,
      open: this.#open,
      sent: (to) => (journal.outbox?.isHere(to) === false ? journal.outbox.carry(to) : this.#inboxPoller.notify(to)),
      ...viewsOf(journal, (scope) => this.#scopes.inMemory.get(scope)),
      atRest: (session) => this.#scopes.atRest(session),
      lost: (session) => this.#scopes.lost(session),
    };
  }

  #hostSide({ host, roots, instance, codeVersion }: RuntimeOptions): HostSide {
    const tool = (id: string) => this.registry.live(id);
    return {
      host: { environment: async () => this.registry.catalog(), ...host },
      tool,
      tools: () => this.registry.catalog(),
      versions: new CodeVersions({
        codeVersion,
        instance,
        platform: this.#alarms.platform,
        tools: () => this.registry.lives,
        tool,
      }),
      attachments: this.#attachments,
      background: this.background.options,
      roots,
      waits: this.#waits,
    };
  }

  /** Derives secrets of the store for a purpose of its host's: the first signs, all of them verify. */
  secrets(purpose: string): readonly Uint8Array[] {
    const { newest, older = [] } = this.#options.roots;
    return [newest, ...older].map(({ secret }) => hkdf(secret, new Uint8Array(0), utf8(`pawl ${purpose}`), 32));
  }

  /** Returns the bytes of an attachment; undefined where nobody has put them. */
  attachment(id: string): Promise<Uint8Array | undefined> {
    return this.#attachments.bytes(id);
  }

  /** Counts the syncs of the store: one commit may hold many appends. */
  get commits(): number {
    return this.#loop.commits;
  }

  /** Counts the scopes in memory. */
  get inMemory(): number {
    return this.#scopes.inMemory.size;
  }

  /**
   * Returns the session of this id: claimed, folded from its log, and going on with what was under way. It may be given a
   * title, tags, and tools of its own in place of the runtime's: they are on record.
   */
  async session(id: string, options?: SessionOptions): Promise<Session> {
    const scope = `session:${admittedId("session", id)}`;
    return options === undefined ? this.#open(scope) : this.#scopes.openAs(scope, options);
  }

  /** Says whether there is a scope of this name, without making one. */
  has(scope: string): Promise<boolean> {
    return this.#scopes.has(scope);
  }

  /**
   * Lists the scopes of the store with calls that wait for approval, page by page. `approvals` of a session lists the
   * calls.
   */
  async awaitingApproval(page: AwaitingPage = {}): Promise<readonly ScopeAwaiting[]> {
    this.#shutdown.pass();
    return scopesAwaiting(this.#options.journal, page);
  }

  /** Lists the sessions of the store by name, with what each is at. None is claimed for that. */
  async sessions(page: SessionPage = {}): Promise<readonly SessionEntry[]> {
    this.#shutdown.pass();
    return this.#sessions.page(page);
  }

  /**
   * Resolves the wait that a token was made for, whichever scope it is of; `id` is the resolver's own name for it, by which
   * a repetition is known. A token that names no scope was made under protocol 1: `resolve` of its session takes it.
   */
  async resolve(token: string, resolution: Resolution, by?: string, id?: string): Promise<Resolved> {
    this.#shutdown.pass();
    const scope = await scopeSigned(this.#options, token);
    const isHere = scope !== undefined && (await this.#scopes.has(scope));
    return isHere ? (await this.#open(scope)).resolve(token, resolution, by, id) : unknownKey;
  }

  /**
   * Takes up what nobody looks after: work, messages, deadlines that have passed. With a lease this happens by itself.
   */
  async recover(): Promise<void> {
    this.#shutdown.pass();
    await this.#recovery.beat();
  }

  /** Announces where others reach this instance, unless its lease names a place. */
  async announce(address: string): Promise<void> {
    await this.#lease?.reachedAt(address);
  }

  /** Says where the outside resolves waits over HTTP, with a token behind it: bodies read it as the `url` of a wait. */
  waitsAt(url: string | undefined): void {
    this.#waits.url = url;
  }

  /** Says whether this runtime takes new work: not without its lease, and not while it drains. */
  get readiness(): Readiness {
    const { phase } = this.#shutdown;
    return phase === "ready" && this.#lease?.holds === false ? "no_lease" : phase;
  }

  /**
   * Takes no more scopes, and lets go of those that it has, each as soon as its bodies stand at a record: other hosts of the
   * store go on with them at once. Resolves when none is left, at the latest after `withinMs`. `close` it then.
   */
  async drain(withinMs = defaults.drainMs): Promise<void> {
    this.#shutdown.drain();
    this.#inboxPoller.stop();
    this.#stopListening?.();
    await this.#scopes.drain(withinMs);
  }

  /** Moves a scope to another host, and resolves when it lives there. */
  readonly move: Moves["move"] = (...of) => this.moves.move(...of);
  /**
   * Registers an executor of `client_side` tools. The function that is returned says that its connection is gone, or
   * the executor itself.
   */
  readonly register: ExecutorVerbs["register"] = (executor) => this.#executors.register(executor);
  /** Settles a run that was offered to an executor. */
  readonly settle: ExecutorVerbs["settle"] = (...of) => this.#executors.settle(...of);
  /** Shows the progress of an executor's run to observers. */
  readonly progress: ExecutorVerbs["progress"] = (...of) => this.#executors.progress(...of);

  /** Admits nothing more, ends all bodies as if by a crash, and leaves when all that was stepped is durable. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#shutdown.close();
    this.#inboxPoller.stop();
    this.#stopListening?.();
    await this.#scopes.close();
    this.#lease?.stop();
    this.#alarms.stop();
    await this.#options.journal.leave(this.#options.instance);
  }
}

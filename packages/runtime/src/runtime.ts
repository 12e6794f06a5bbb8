/** The runtime of one process: opens scopes over a journal, and runs their tools. */
import { type Options, currentProtocol, defaultOptions } from "@pawl/sansio-core";
import { type Patience, defaultPatience } from "./body.ts";
import { Alarms } from "./alarms.ts";
import { OwnedElsewhere, Refused } from "./error.ts";
import { type ExecutorSpec, Executors } from "./executor.ts";
import { foldLines } from "./fold.ts";
import type { Journal, Lease } from "./journal.ts";
import { Post } from "./link-post.ts";
import { Processes } from "./process.ts";
import type { Offers, Settled, Settlement } from "./offer.ts";
import type { Platform } from "./platform.ts";
import { type HostPort, Session } from "./session.ts";
import type { Roots } from "./token.ts";
import { type ToolDefinition, manifestOf } from "./tool.ts";
import { TurnLoop } from "./turn-loop.ts";

export interface RuntimeOptions {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly tools: readonly ToolDefinition[];
  /** This driver instance, as it stands in the log. */
  readonly instance: string;
  /** How long others keep away from the instance's scopes after its last sign of life, and where they reach it. */
  readonly lease?: Lease;
  readonly roots: Roots;
  readonly host?: HostPort;
  readonly options?: Partial<Options>;
  readonly patience?: Partial<Patience>;
  /** How long an executor may be away before what it runs is lost. */
  readonly executorLeaseMs?: number;
}

const newerProtocol = (scope: string, protocol: number): string =>
  `scope ${scope} is of protocol ${protocol}, this core knows ${currentProtocol}: update it first`;

/** How long an executor may be away, unless the host says otherwise. */
const executorLeaseMs = 30_000;

export class Runtime {
  readonly #with: RuntimeOptions;
  readonly #tools: ReadonlyMap<string, ToolDefinition>;
  readonly #loop: TurnLoop;
  readonly #platform: Platform;
  readonly #joined: Promise<void>;
  readonly #host: HostPort;
  readonly #post: Post;
  /** What the host does with processes. */
  readonly processes: Processes;
  readonly #open = new Map<string, Promise<Session>>();
  readonly #executors: Executors;

  constructor(options: RuntimeOptions) {
    this.#with = options;
    const { journal, instance, lease, platform } = options;
    this.#loop = new TurnLoop(journal, platform);
    this.#platform = new Alarms(platform).platform;
    this.#executors = new Executors(this.#platform, options.executorLeaseMs ?? executorLeaseMs, {
      lost: (scope, owner) => void this.#withOffers(scope, (offers) => offers.lost(owner)),
      available: (tools) => {
        for (const scope of this.#open.keys()) void this.#withOffers(scope, (offers) => offers.available(tools));
      },
    });
    this.#joined = lease === undefined ? Promise.resolve() : journal.join(instance, lease);
    this.#joined.catch(() => undefined); // Whoever opens a scope hears of it.
    this.processes = new Processes((scope) => this.#scope(scope));
    this.#host = { environment: async () => options.tools, ...options.host };
    this.#post = new Post({
      platform: this.#platform,
      open: (scope) => this.#scope(scope),
      report: (what, thrown) => options.host?.internalError?.(what, thrown),
    });
    this.#tools = new Map(options.tools.map((tool) => [manifestOf(tool).id, tool]));
  }

  /** How often the store was asked to sync: one commit may hold many appends. */
  get commits(): number {
    return this.#loop.commits;
  }

  /** The session of this id: claimed, folded from its log, and going on with what was under way. */
  session(id: string): Promise<Session> {
    return this.#scope(`session:${id}`);
  }

  /** Whether there is a scope of this name, without making one. */
  async has(scope: string): Promise<boolean> {
    if (this.#open.has(scope)) return true;
    const [entry] = await this.#with.journal.scopes(scope, "", 1);
    return entry?.scope === scope && entry.seq > 0;
  }

  /** Goes on with what nobody looks after: processes at work, words on their way, deadlines that have passed. */
  async recover(): Promise<void> {
    const { journal, platform } = this.#with;
    for (const scope of await journal.due(platform.now())) await this.#scope(scope);
  }

  #scope(scope: string): Promise<Session> {
    const open = this.#open.get(scope) ?? this.#claim(scope);
    this.#open.set(scope, open);
    open.catch(() => this.#open.delete(scope));
    return open;
  }

  /** Whoever opens a scope next learns of its executors from the log: one that can not be opened now is left to them. */
  async #withOffers(scope: string, then: (offers: Offers) => void): Promise<void> {
    const session = await this.#scope(scope).catch(() => undefined);
    if (session !== undefined && !session.runner.isLost) then(session.offers);
  }

  /** An executor of `client_side` tools is here; what this gives back says that its connection is gone. */
  register(executor: ExecutorSpec): () => void {
    return this.#executors.register(executor);
  }

  /** An executor reports what came of a run that was offered to it. */
  async settle(executor: string, settlement: Settlement): Promise<Settled> {
    const session = await this.#scope(settlement.scope);
    return session.offers.settle(`executor:${executor}`, settlement);
  }

  async #claim(scope: string): Promise<Session> {
    const { journal, instance, roots, options = {}, tools } = this.#with;
    await this.#joined;
    const claim = await journal.claim(scope, instance, currentProtocol);
    if (claim.type === "owned_by") throw new OwnedElsewhere(scope, claim.instance, claim.address);
    if (claim.type === "newer_protocol") throw new Refused("newer_protocol", newerProtocol(scope, claim.protocol));
    const { epoch } = claim;
    const state = foldLines(scope, await journal.read(scope, 1));
    const session = new Session(state, epoch, {
      platform: this.#platform,
      owner: instance,
      roots,
      executors: this.#executors,
      patience: { ...defaultPatience, ...this.#with.patience },
      host: this.#host,
      post: this.#post,
      tool: (id) => this.#tools.get(id),
      stir: (member) => this.#loop.stir(member),
      isLeased: () => false,
      readLines: (from, to) => journal.read(scope, from, to),
      find: (kind, id) => journal.find(scope, kind, id),
      lost: () => this.#open.delete(scope),
    });
    const opened = {
      type: "scope.opened",
      epoch,
      owner: instance,
      protocol: state.scope.epoch === 0 ? currentProtocol : state.scope.protocol,
      options: { ...defaultOptions, ...options },
    } as const;
    await session.open(opened, { type: "catalog.published", tools: tools.map(manifestOf) });
    return session;
  }
}

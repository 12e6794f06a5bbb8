/** Opens the scope of a Durable Object: a runtime over its storage, made when it is first needed, its alarm and its mail. */
import { type RuntimeOptions, type Session, Refused, Runtime } from "@pawl/runtime";
import type { Roots } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";
import { Alarm, Waits, platformOf } from "./alarm.ts";
import { Carrier, type Letter, type Peer } from "./carrier.ts";
import { type ObjectJournal, type ObjectJournalOptions, objectJournal } from "./journal.ts";
import type { ObjectSocket, ObjectState } from "./object.ts";
import { type SocketOptions, Sockets } from "./socket.ts";

export interface ScopeOptions
  extends
    ObjectJournalOptions,
    SocketOptions,
    Pick<
      RuntimeOptions,
      | "tools"
      | "host"
      | "options"
      | "patience"
      | "background"
      | "log"
      | "telemetry"
      | "bounds"
      | "executorLeaseMs"
      | "retention"
      | "snapshotAfter"
      | "upgrade"
      | "codeVersion"
    > {
  /** Secrets that wait tokens are signed under. By default each object makes one of its own. */
  readonly roots?: Roots;
  /** The name of the scope, where the object's id has none. */
  readonly scope?: string;
}

/** The objects of other scopes. */
export interface Peers {
  readonly peer: (scope: string) => Peer;
  /** Returns the sockets that are open: they outlive the memory of their object. */
  readonly sockets?: () => readonly ObjectSocket[];
}

const scopeName = /^(?:session|process):(?<id>.+)$/s;

const nameOf = ({ id }: ObjectState, given: string | undefined): string => {
  const name = given ?? id.name;
  if (name !== undefined && scopeName.test(name)) return name;
  const wanted = "take its id by `idFromName`, with session:<id> or process:<id>";
  throw new Refused("invalid_option", `this object is named ${name ?? "nothing"}: ${wanted}`);
};

/** Refuses limits of tools: they would hold for one object only. */
export const refuseLimits = ({ lives }: Pick<Runtime["registry"], "lives">): void => {
  const limited = [...lives].find(({ line }) => line !== undefined);
  if (limited === undefined) return;
  const why =
    "Durable Objects share no queues: limit it where all its calls pass, or run it on hosts that share a journal";
  throw new Refused("invalid_option", `tool \`${limited.manifest.name}\` has a \`limit\`, and ${why}`);
};

const newSecret = (): string =>
  [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const secretOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/** The scope of an object, and what the platform calls of it. */
export class OpenScope {
  readonly name: string;
  readonly #options: ScopeOptions;
  readonly #state: ObjectState;
  readonly #alarm: Alarm;
  readonly #waits: Waits;
  readonly #carrier: Carrier;
  readonly #store: ObjectJournal;
  readonly #sockets: Sockets;
  #runtime: Promise<Runtime> | undefined;

  constructor(state: ObjectState, { peer, sockets = () => [], ...options }: ScopeOptions & Peers) {
    this.name = nameOf(state, options.scope);
    this.#options = options;
    this.#state = state;
    this.#alarm = new Alarm(state.storage, this.#report);
    this.#waits = new Waits(this.#alarm);
    this.#store = objectJournal({
      scope: this.name,
      storage: state.storage,
      alarm: this.#alarm,
      carry: (to) => state.waitUntil(this.#carrier.carry(to)),
      options,
    });
    const { mail, tables } = this.#store;
    this.#sockets = new Sockets({
      open: sockets,
      ownerOf: (scope) =>
        scope === this.name || !scopeName.test(scope) ? undefined : (options.addressOf?.(scope) ?? scope),
      tables,
      clock: platformOf(this.#waits),
      options,
      log: options.log ?? (() => undefined),
    });
    this.#carrier = new Carrier({ scope: this.name, mail, peer, later: this.#waits.later, report: this.#report });
  }

  readonly #report = (what: string, thrown: unknown): void => {
    const { host } = this.#options;
    if (host?.fault === undefined) console.error(`${what}:`, thrown);
    else host.fault(what, thrown);
  };

  get #roots(): Roots {
    const secret = this.#store.log.root(newSecret);
    return { newest: { kid: hashText(secret).slice(0, 8), secret: secretOf(secret) } };
  }

  async #open(): Promise<Runtime> {
    await this.#alarm.ready;
    const runtime = new Runtime({
      roots: this.#options.roots ?? this.#roots,
      ...this.#options,
      linger: { ms: Number.MAX_SAFE_INTEGER }, // The platform evicts objects, with all that they hold.
      journal: this.#store.journal,
      platform: platformOf(this.#waits),
      instance: `do:${crypto.randomUUID()}`,
    });
    refuseLimits(runtime.registry);
    this.#sockets.restore(runtime); // Before anything happens that a client is to hear of.
    return runtime;
  }

  /** Returns the runtime of this object. */
  runtime(): Promise<Runtime> {
    return (this.#runtime ??= this.#open());
  }

  /** Returns the session of this object. */
  async session(): Promise<Session> {
    const { groups } = /^session:(?<id>.+)$/s.exec(this.name) ?? {};
    if (groups?.["id"] !== undefined) return (await this.runtime()).session(groups["id"]);
    throw new Refused("scope_unknown", `this object holds ${this.name}, which is no session`);
  }

  /** Says whether clients may connect: the options have secrets for their tokens. */
  get takesClients(): boolean {
    return this.#sockets.isOpen;
  }

  /** Takes a client's connection of the host protocol. `socket` has the platform accept it. */
  async accept(socket: () => ObjectSocket): Promise<void> {
    const runtime = await this.runtime(); // Takes up the sockets that are open, of which this one is none yet.
    this.#sockets.accept(socket(), runtime);
  }

  /** Takes a message of a client. */
  async message(socket: ObjectSocket, message: string | ArrayBuffer): Promise<void> {
    await this.runtime();
    this.#sockets.message(socket, message);
  }

  /** Ends the connection of a client that has gone. */
  async closed(socket: ObjectSocket): Promise<void> {
    await this.runtime();
    this.#sockets.closed(socket);
  }

  /** Takes letters of another scope. Resolves once they are durable; taking them comes after. */
  async deliver(from: string, letters: readonly Letter[]): Promise<void> {
    await this.#alarm.ready;
    this.#store.mail.deliver(from, letters);
    this.#alarm.lookAfter(0);
    await this.#state.storage.sync();
    await this.runtime();
    this.#store.arrived();
  }

  /** Sets the alarm for all that is to be looked after, before any of it is: this object may die meanwhile. */
  #setAlarm(): void {
    const { log, mail } = this.#store;
    if (mail.hasMail || mail.targets().length > 0) this.#alarm.lookAfter(0);
    if (log.wakeAt !== undefined) this.#alarm.lookAfter(log.wakeAt);
    this.#alarm.lookAfter(this.#waits.next);
  }

  /**
   * Rings: brings letters, takes those that came, opens the scope if it is due. Never throws, since the
   * platform gives up an alarm that fails again and again.
   */
  async alarm(): Promise<void> {
    try {
      await this.#alarm.ready;
      this.#alarm.rung();
      this.#setAlarm();
      this.#waits.ring();
      await Promise.all([this.#carrier.carryAll(), (await this.runtime()).recover()]);
    } catch (thrown) {
      this.#report("the alarm failed", thrown);
    }
  }
}

/** Opens the scope of an object. `peer` returns the object of another scope. */
export const openScope = (state: ObjectState, options: ScopeOptions & Peers): OpenScope =>
  new OpenScope(state, options);

/**
 * Redirects: questions about a scope that lives with another host go to that host, and the token with them, if the
 * program allows the address. Addresses are kept in an LRU cache. After a connection to another host is lost, the home
 * host is asked again: by then it knows who has the scope, or has it itself. So it is for a scope that the cache forgot.
 *
 *   home ─owned_by, moved─▶ an address ─owned_by, moved─▶ … at most `maxHops`
 *    ▲                          │
 *    └──── connection lost ◀────┘
 */
import type { HostFrame } from "../frame/host-frame.ts";
import { invalidArgument } from "./check.ts";
import { Connection } from "./connection.ts";
import { HostRefused } from "./error.ts";
import { type SocketOptions, connectionLost } from "./reconnecting-socket.ts";
import type { SingleQuestion, WithoutId } from "./pending-questions.ts";
import type { AnySubscription } from "./subscription.ts";

/** One entry takes some 200 bytes. */
const defaultCapacity = 10_000;

export class ScopeAddresses {
  readonly #capacity: number;
  /** In order of use: the most recent entry is last. */
  readonly #addresses = new Map<string, string>();

  constructor(capacity = defaultCapacity) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#addresses.size;
  }

  get(scope: string): string | undefined {
    const address = this.#addresses.get(scope);
    if (address !== undefined) this.set(scope, address);
    return address;
  }

  set(scope: string, address: string): void {
    this.#addresses.delete(scope);
    this.#addresses.set(scope, address);
    if (this.#addresses.size <= this.#capacity) return;
    const [oldest] = this.#addresses.keys();
    if (oldest !== undefined) this.#addresses.delete(oldest);
  }

  delete(scope: string): void {
    this.#addresses.delete(scope);
  }

  deleteAllAt(address: string): void {
    for (const [scope, at] of this.#addresses) if (at === address) this.#addresses.delete(scope);
  }
}

/** The addresses that may be given the token too, or a function that returns the token for an address, or undefined. */
export type Follow = readonly string[] | ((address: string) => SocketOptions["token"] | undefined);

/** The most redirects of one question or one subscription. */
const maxHops = 4;

type ScopeQuestion = Extract<WithoutId<SingleQuestion>, { readonly scope: string }>;

export interface RouterOptions extends SocketOptions {
  readonly follow: Follow;
}

const isSameAddress = (one: string, other: string): boolean =>
  one === other || (URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href);

const tokenFor = ({ follow, token }: RouterOptions, address: string): SocketOptions["token"] | undefined => {
  if (typeof follow === "function") return follow(address);
  return follow.some((one) => isSameAddress(one, address)) ? token : undefined;
};

export const checkFollow = (follow: unknown): void => {
  const isList = Array.isArray(follow) && follow.every((address) => typeof address === "string" && address !== "");
  if (!isList && typeof follow !== "function")
    throw invalidArgument("follow must be a list of addresses, or a function that returns the token for an address");
};

interface Route {
  readonly scope: string;
  readonly hops: number;
  readonly connection: Connection;
}

/** A subscription that was refused, and the address that refused it (none: the home host). */
interface Refused {
  readonly refusal: HostRefused;
  readonly wasServed: boolean;
  readonly address?: string;
}

export class ScopeRouter {
  readonly #options: RouterOptions;
  readonly #home: Connection;
  readonly #addresses = new ScopeAddresses();
  readonly #connections = new Map<string, Connection>();
  readonly #routes = new WeakMap<AnySubscription, Route>();
  /** The number of connections to an address that failed in a row. */
  readonly #failures = new Map<string, number>();
  readonly #pauses = new Map<ReturnType<typeof setTimeout>, () => void>();
  #isClosed = false;

  constructor(options: RouterOptions, home: Connection) {
    this.#options = options;
    this.#home = home;
  }

  /** The number of scopes that are known to live elsewhere. */
  get known(): number {
    return this.#addresses.size;
  }

  async ask(question: ScopeQuestion, signal?: AbortSignal): Promise<HostFrame> {
    const { scope } = question;
    let [wasAsked, hops] = [false, 0];
    for (;;) {
      const address = this.#addresses.get(scope);
      try {
        return await this.#connectionTo(address).ask(question, { wasAsked, signal });
      } catch (thrown) {
        if (!(thrown instanceof HostRefused)) throw thrown;
        wasAsked ||= thrown.code === connectionLost;
        if (await this.#returnHome(scope, address, thrown)) hops = 0;
        else if (this.#redirect(scope, address, thrown, hops)) hops += 1;
        else throw thrown;
      }
    }
  }

  /** Forgets the address of a scope if the connection to it was lost, and pauses; returns false for any other error. */
  async #returnHome(scope: string, address: string | undefined, { code }: HostRefused): Promise<boolean> {
    if (address === undefined || code !== connectionLost) return false;
    this.#addresses.delete(scope);
    await this.#pause(address);
    return true;
  }

  /** Notes the address that a refusal names; returns false if the question must not go there. */
  #redirect(scope: string, from: string | undefined, { address }: HostRefused, hops: number): boolean {
    if (from !== undefined && !this.#connections.has(from)) this.#addresses.delete(scope); // The host at that address refused the token.
    if (address === undefined || hops >= maxHops || this.#isClosed) return false;
    if (isSameAddress(address, this.#options.url)) this.#addresses.delete(scope);
    else if (tokenFor(this.#options, address) === undefined) return false;
    else this.#addresses.set(scope, address);
    return true;
  }

  #connectionTo(address: string | undefined): Connection {
    if (address === undefined) return this.#home;
    const known = this.#connections.get(address);
    const token = known === undefined ? tokenFor(this.#options, address) : undefined;
    if (known !== undefined || token === undefined) return known ?? this.#home;
    const connection: Connection = new Connection(
      { ...this.#options, url: address, token, isOnce: true },
      {
        opened: () => this.#failures.delete(address),
        received: () => undefined, // Executors and receivers are registered with the home host alone.
        ended: () => this.#forget(address, connection),
        continues: (subscription, refusal, wasServed) => this.continues(subscription, { refusal, wasServed, address }),
      },
    );
    this.#connections.set(address, connection);
    return connection;
  }

  #forget(address: string, connection: Connection): void {
    if (this.#connections.get(address) !== connection) return;
    this.#connections.delete(address);
    this.#addresses.deleteAllAt(address);
  }

  /** Waits before home is asked again; the pause doubles with every failure in a row. */
  #pause(address: string): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const failures = this.#failures.get(address) ?? 0;
    this.#failures.set(address, failures + 1);
    const { minMs, maxMs } = this.#options.backoff;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#pauses.delete(timer) && resolve(), Math.min(maxMs, minMs * 2 ** failures));
      this.#pauses.set(timer, resolve);
    });
  }

  begin(subscription: AnySubscription, scope: string, hops = 0): void {
    const connection = this.#connectionTo(this.#addresses.get(scope));
    this.#routes.set(subscription, { scope, hops, connection });
    connection.begin(subscription);
  }

  seen(subscription: AnySubscription, cursor: number): void {
    this.#routes.get(subscription)?.connection.seen(subscription, cursor);
  }

  leave(subscription: AnySubscription): void {
    this.#routes.get(subscription)?.connection.leave(subscription);
    this.#routes.delete(subscription);
  }

  /** Begins a refused subscription again, at home or where the refusal sends it; returns false if it has ended. */
  continues(subscription: AnySubscription, { refusal, wasServed, address }: Refused): boolean {
    const route = this.#routes.get(subscription);
    if (route === undefined || this.#isClosed) return false;
    const { scope } = route;
    const hops = wasServed ? 0 : route.hops;
    if (address !== undefined && refusal.code === connectionLost) {
      void this.#returnHome(scope, address, refusal).then(() => {
        if (this.#routes.has(subscription)) this.begin(subscription, scope);
      });
      return true;
    }
    const isRedirected = this.#redirect(scope, address, refusal, hops);
    if (isRedirected) this.begin(subscription, scope, hops + 1);
    else this.#routes.delete(subscription);
    return isRedirected;
  }

  close(error: HostRefused): void {
    this.#isClosed = true;
    for (const [timer, resolve] of this.#pauses) {
      clearTimeout(timer);
      resolve();
    }
    this.#pauses.clear();
    for (const connection of this.#connections.values()) connection.close(error);
    this.#connections.clear();
  }
}

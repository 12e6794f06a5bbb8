/**
 * Scopes that live with another host than the one that is asked: their questions go there, and so does the token, where
 * the program allows it. A host that is followed to and lost is forgotten, and the first one is asked again: it knows
 * who has the scope by then, or has it itself.
 *
 *   home ─owned_by, moved─▶ an address ─owned_by, moved─▶ … at most so many
 *    ▲                          │
 *    └──── connection lost ◀────┘
 */
import type { HostFrame } from "../frame/host-frame.ts";
import type { Asked } from "./pending-questions.ts";
import { invalid } from "./check.ts";
import { HostRefused } from "./error.ts";
import type { Flowing } from "./subscription.ts";
import { Line } from "./connection.ts";
import { type LinkOptions, connectionLost } from "./link.ts";
import type { WithoutId } from "./session.ts";
import { Whereabouts } from "./scope-addresses.ts";

/** Addresses that the token may be told, too; or what gives the token for an address, and undefined where none may go. */
export type Follow = readonly string[] | ((address: string) => LinkOptions["token"] | undefined);

/** How often one question, or one subscription, is sent on until it is answered. */
const mostHops = 4;

type Located = Extract<WithoutId<Asked>, { readonly scope: string }>;

export interface FollowOptions extends LinkOptions {
  readonly follow: Follow;
}

const sameAddress = (one: string, other: string): boolean =>
  one === other || (URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href);

const tokenBy = ({ follow, token }: FollowOptions, address: string): LinkOptions["token"] | undefined => {
  if (typeof follow === "function") return follow(address);
  return follow.some((one) => sameAddress(one, address)) ? token : undefined;
};

export const checkFollow = (follow: unknown): void => {
  const isList = Array.isArray(follow) && follow.every((address) => typeof address === "string" && address !== "");
  if (!isList && typeof follow !== "function")
    throw invalid("follow is a list of addresses, or a function that says the token for one");
};

interface Followed {
  readonly scope: string;
  readonly hops: number;
}

export class Following {
  readonly #options: FollowOptions;
  readonly #home: Line;
  readonly #at = new Whereabouts();
  readonly #lines = new Map<string, Line>();
  readonly #flows = new WeakMap<Flowing, Followed & { line: Line }>();
  /** How often in a row no connection to an address held. */
  readonly #failures = new Map<string, number>();
  readonly #pauses = new Map<ReturnType<typeof setTimeout>, () => void>();
  #isClosed = false;

  constructor(options: FollowOptions, home: Line) {
    this.#options = options;
    this.#home = home;
  }

  /** Of how many scopes it is known that they live elsewhere. */
  get known(): number {
    return this.#at.size;
  }

  async ask(question: Located, signal?: AbortSignal): Promise<HostFrame> {
    const { scope } = question;
    let [wasAsked, hops] = [false, 0];
    for (;;) {
      const address = this.#at.of(scope);
      try {
        return await this.#lineTo(address).ask(question, { wasAsked, signal });
      } catch (thrown) {
        if (!(thrown instanceof HostRefused)) throw thrown;
        wasAsked ||= thrown.code === connectionLost;
        if (await this.#isLost(scope, address, thrown)) hops = 0;
        else if (this.#sentOn(scope, address, thrown, hops)) hops += 1;
        else throw thrown;
      }
    }
  }

  /** The connection to a host that was followed to is gone: home is asked again, after a pause. */
  async #isLost(scope: string, address: string | undefined, { code }: HostRefused): Promise<boolean> {
    if (address === undefined || code !== connectionLost) return false;
    this.#at.forget(scope);
    await this.#pause(address);
    return true;
  }

  /** Whether the scope is to be asked at an address that a refusal names. */
  #sentOn(scope: string, asked: string | undefined, { address }: HostRefused, hops: number): boolean {
    if (asked !== undefined && !this.#lines.has(asked)) this.#at.forget(scope); // It does not let us in.
    if (address === undefined || hops >= mostHops || this.#isClosed) return false;
    if (sameAddress(address, this.#options.url)) this.#at.forget(scope);
    else if (tokenBy(this.#options, address) === undefined) return false;
    else this.#at.found(scope, address);
    return true;
  }

  #lineTo(address: string | undefined): Line {
    if (address === undefined) return this.#home;
    const known = this.#lines.get(address);
    const token = known === undefined ? tokenBy(this.#options, address) : undefined;
    if (known !== undefined || token === undefined) return known ?? this.#home;
    const line: Line = new Line(
      { ...this.#options, url: address, token, isOnce: true },
      {
        opened: () => this.#failures.delete(address),
        heard: () => undefined, // Executors and receivers are at home.
        ended: () => this.#left(address, line),
        goesOn: (flow, refusal, wasTold) => this.goesOn(flow, { refusal, wasTold, address }),
      },
    );
    this.#lines.set(address, line);
    return line;
  }

  #left(address: string, line: Line): void {
    if (this.#lines.get(address) !== line) return;
    this.#lines.delete(address);
    this.#at.leave(address);
  }

  /** As long as a connection is waited for that does not come about. */
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

  begin(flow: Flowing, scope: string): void {
    this.#beginAt(flow, { scope, hops: 0 });
  }

  #beginAt(flow: Flowing, followed: Followed): void {
    const line = this.#lineTo(this.#at.of(followed.scope));
    this.#flows.set(flow, { ...followed, line });
    line.begin(flow);
  }

  seen(flow: Flowing, cursor: number): void {
    this.#flows.get(flow)?.line.seen(flow, cursor);
  }

  leave(flow: Flowing): void {
    this.#flows.get(flow)?.line.leave(flow);
    this.#flows.delete(flow);
  }

  /** Whether a subscription that was refused goes on: at home, or where the refusal sends it. */
  goesOn(
    flow: Flowing,
    {
      refusal,
      wasTold,
      address,
    }: { readonly refusal: HostRefused; readonly wasTold: boolean; readonly address?: string },
  ): boolean {
    const followed = this.#flows.get(flow);
    if (followed === undefined || this.#isClosed) return false;
    const { scope } = followed;
    const hops = wasTold ? 0 : followed.hops;
    if (address !== undefined && refusal.code === connectionLost) {
      void this.#isLost(scope, address, refusal).then(() => {
        if (this.#flows.has(flow)) this.#beginAt(flow, { scope, hops: 0 });
      });
      return true;
    }
    const isSentOn = this.#sentOn(scope, address, refusal, hops);
    if (isSentOn) this.#beginAt(flow, { scope, hops: hops + 1 });
    else this.#flows.delete(flow);
    return isSentOn;
  }

  close(error: HostRefused): void {
    this.#isClosed = true;
    for (const [timer, resolve] of this.#pauses) {
      clearTimeout(timer);
      resolve();
    }
    this.#pauses.clear();
    for (const line of this.#lines.values()) line.close(error);
    this.#lines.clear();
  }
}

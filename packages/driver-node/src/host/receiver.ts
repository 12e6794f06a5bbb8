/**
 * Clients that scopes move to: a page, or any program that a host can not call by itself. What is said to one goes over
 * the connection that it has; while it has none nothing can be said, and whoever opens the scope asks again.
 */
import { type MoveAnswer, type MovePart, type Mover, Refused } from "@pawl/runtime";
import type { HostFrame } from "@pawl/wire/frame";
import { type Claims, missingRight } from "./token.ts";

type Told = Extract<HostFrame, { readonly type: "move_part" | "decline_move" }>;
type WithoutNumber<A> = A extends unknown ? Omit<A, "n" | "receiver"> : never;

const scheme = "client:";

/** Two principals never share an address. */
const addressOf = (by: string, name: string): string =>
  `${scheme}${encodeURIComponent(by)}/${encodeURIComponent(name)}`;

interface Asked {
  readonly resolve: (answer: MoveAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One connection, with all the names that it receives under. */
export class Reception {
  readonly #claims: Claims;
  readonly #send: (frame: Told) => void;
  readonly #asked = new Map<number, Asked>();
  #numbers = 0;

  constructor(claims: Claims, send: (frame: Told) => void) {
    this.#claims = claims;
    this.#send = send;
  }

  addressOf(name: string): string {
    return addressOf(this.#claims.by, name);
  }

  /** Why a scope may not move there, if so. */
  missing(scope: string): string | undefined {
    return missingRight(this.#claims, "move", scope);
  }

  ask(receiver: string, told: WithoutNumber<Told>): Promise<MoveAnswer> {
    const n = (this.#numbers += 1);
    return new Promise((resolve, reject) => {
      this.#asked.set(n, { resolve, reject });
      this.#send({ ...told, n, receiver });
    });
  }

  /** What is no answer to anything is dropped: the connection may have been another one then. */
  answered(n: number, answer: MoveAnswer | undefined): void {
    const asked = this.#asked.get(n);
    this.#asked.delete(n);
    if (answer === undefined) asked?.reject(new Error("its store failed to say"));
    else asked?.resolve(answer);
  }

  end(): void {
    for (const { reject } of this.#asked.values()) reject(new Error("its connection was lost"));
    this.#asked.clear();
  }
}

/** It is made before the runtime, whose `mover` asks it; the host tells it who is there. */
export class Receivers {
  readonly #here = new Map<string, { readonly name: string; readonly reception: Reception }>();

  /** Scopes move to clients by `client:` addresses, and to all others as before. */
  mover(others?: (to: string) => Mover): (to: string) => Mover {
    return (to) => {
      if (to.startsWith(scheme)) return this.#moverTo(to);
      if (others === undefined)
        throw new Refused("peer_unknown", `${to} is no client's address, and no other is known`);
      return others(to);
    };
  }

  #moverTo(address: string): Mover {
    const ask = async (told: WithoutNumber<Told>): Promise<MoveAnswer> => {
      const there = this.#here.get(address);
      if (there === undefined) throw new Error(`nobody is connected as ${address}`);
      return there.reception.ask(there.name, told);
    };
    return {
      ready: async (scope) => this.#refuseMisfit(address, scope),
      send: async ({ scope, nonce, part, parts, text }: MovePart) => {
        const missing = this.#here.get(address)?.reception.missing(scope);
        if (missing !== undefined) return { type: "refused", code: "permission_denied", message: missing };
        return ask({ type: "move_part", scope, nonce, part, parts, text });
      },
      decline: (scope, nonce) => ask({ type: "decline_move", scope, nonce }),
    };
  }

  #refuseMisfit(address: string, scope: string): void {
    const there = this.#here.get(address);
    if (there === undefined) throw new Refused("receiver_away", `nobody is connected as ${address}: connect it first`);
    const missing = there.reception.missing(scope);
    if (missing !== undefined) throw new Refused("permission_denied", missing);
  }

  /** Under one name there is one client, the last that said so. Says its address. */
  enter(name: string, reception: Reception): string {
    const address = reception.addressOf(name);
    this.#here.set(address, { name, reception });
    return address;
  }

  leave(reception: Reception): void {
    for (const [address, there] of this.#here) if (there.reception === reception) this.#here.delete(address);
    reception.end();
  }
}

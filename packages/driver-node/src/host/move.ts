/** Scopes that move: here, as another host asks, and away, as somebody who may order it does. */
import { Refused, type Runtime, type MoveAnswer, type MovePart, type Mover } from "@pawl/runtime";
import type { ClientFrame, HostFrame } from "@pawl/wire/frame";
import { isScope } from "./executor.ts";
import { type Claims, missingRight } from "./token.ts";

type JsonDocument = Extract<HostFrame, { readonly type: "move_part" | "decline_move" }>;
type WithoutNumber<A> = A extends unknown ? Omit<A, "n" | "receiver"> : never;

const scheme = "client:";

/** Two principals never share an address. */
const addressOf = (by: string, name: string): string =>
  `${scheme}${encodeURIComponent(by)}/${encodeURIComponent(name)}`;

interface PendingAnswer {
  readonly resolve: (answer: MoveAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One connection, with all the names that it receives under. */
export class ReceiverConnection {
  readonly #claims: Claims;
  readonly #send: (frame: JsonDocument) => void;
  readonly #pending = new Map<number, PendingAnswer>();
  #numbers = 0;

  constructor(claims: Claims, send: (frame: JsonDocument) => void) {
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

  ask(receiver: string, frame: WithoutNumber<JsonDocument>): Promise<MoveAnswer> {
    const n = (this.#numbers += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(n, { resolve, reject });
      this.#send({ ...frame, n, receiver });
    });
  }

  /** What is no answer to anything is dropped: the connection may have been another one then. */
  answered(n: number, answer: MoveAnswer | undefined): void {
    const pending = this.#pending.get(n);
    this.#pending.delete(n);
    if (answer === undefined) pending?.reject(new Error("its store failed to say"));
    else pending?.resolve(answer);
  }

  end(): void {
    for (const { reject } of this.#pending.values()) reject(new Error("its connection was lost"));
    this.#pending.clear();
  }
}

/** It is made before the runtime, whose `mover` asks it; the host tells it who is there. */
export class Receivers {
  readonly #connected = new Map<string, { readonly name: string; readonly reception: ReceiverConnection }>();

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
    const ask = async (frame: WithoutNumber<JsonDocument>): Promise<MoveAnswer> => {
      const there = this.#connected.get(address);
      if (there === undefined) throw new Error(`nobody is connected as ${address}`);
      return there.reception.ask(there.name, frame);
    };
    return {
      ready: async (scope) => this.#refuseReceiver(address, scope),
      send: async ({ scope, nonce, part, parts, text }: MovePart) => {
        const missing = this.#connected.get(address)?.reception.missing(scope);
        if (missing !== undefined) return { type: "refused", code: "permission_denied", message: missing };
        return ask({ type: "move_part", scope, nonce, part, parts, text });
      },
      decline: (scope, nonce) => ask({ type: "decline_move", scope, nonce }),
    };
  }

  #refuseReceiver(address: string, scope: string): void {
    const there = this.#connected.get(address);
    if (there === undefined) throw new Refused("receiver_away", `nobody is connected as ${address}: connect it first`);
    const missing = there.reception.missing(scope);
    if (missing !== undefined) throw new Refused("permission_denied", missing);
  }

  /** Under one name there is one client, the last that said so. Says its address. */
  enter(name: string, reception: ReceiverConnection): string {
    const address = reception.addressOf(name);
    this.#connected.set(address, { name, reception });
    return address;
  }

  leave(reception: ReceiverConnection): void {
    for (const [address, there] of this.#connected) if (there.reception === reception) this.#connected.delete(address);
    reception.end();
  }
}

type ArrivingFrame = Extract<ClientFrame, { readonly type: "move_part" | "decline_move" }>;
type OrderFrame = Extract<ClientFrame, { readonly type: "move" }>;

const refuseMisnamed = (scope: string): void => {
  if (!isScope(scope)) throw new Refused("scope_unknown", `expected session:<id> or process:<id>, found \`${scope}\``);
};

export const arrive = async ({ moves: { arrivals } }: Runtime, frame: ArrivingFrame): Promise<HostFrame> => {
  const { id, scope } = frame;
  refuseMisnamed(scope);
  const answer = frame.type === "move_part" ? arrivals.send(frame) : arrivals.decline(scope, frame.nonce);
  return { type: "move_answered", id, answer: await answer };
};

/** Answers when the scope lives there. The same order again finds out how it ended. */
export const depart = async (runtime: Runtime, frame: OrderFrame): Promise<HostFrame> => {
  const { id, scope, to, bodies, within_ms: withinMs } = frame;
  refuseMisnamed(scope);
  await runtime.move(scope, to, {
    ...(bodies === undefined ? {} : { bodies }),
    ...(withinMs === undefined ? {} : { withinMs }),
  });
  return { type: "done", id };
};

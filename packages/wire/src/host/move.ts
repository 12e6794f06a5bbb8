/**
 * Moves of scopes over the wire: arriving from another host, leaving on request, and to clients.
 *
 * A client, such as a page, cannot be called; it receives scopes over the connection that it has opened. While it is
 * away nothing can be sent, and whoever opens the scope asks again.
 */
import { Refused, type Runtime } from "@pawl/runtime";
import type { MoveAnswer, MovePart, Mover } from "@pawl/runtime/driver";
import type { ClientFrame, HostFrame } from "../frame/index.ts";
import { isScope } from "./executor.ts";
import { type Claims, missingRight } from "./token.ts";

type JsonDocument = Extract<HostFrame, { readonly type: "move_part" | "decline_move" }>;
type WithoutNumber<A> = A extends unknown ? Omit<A, "n" | "receiver"> : never;

const scheme = "client:";

/** Builds an address that contains the principal, so that two principals never share one. */
const addressOf = (by: string, name: string): string =>
  `${scheme}${encodeURIComponent(by)}/${encodeURIComponent(name)}`;

interface PendingAnswer {
  readonly resolve: (answer: MoveAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** A client's connection, with all names that it receives under. */
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

  /** Returns why a scope may not move to this client. */
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

  /** Resolves a pending question. Unknown numbers are ignored: they may belong to an earlier connection. */
  answered(n: number, answer: MoveAnswer | undefined): void {
    const pending = this.#pending.get(n);
    this.#pending.delete(n);
    if (answer === undefined) pending?.reject(new Error("its store did not answer"));
    else pending?.resolve(answer);
  }

  end(): void {
    for (const { reject } of this.#pending.values()) reject(new Error("its connection was lost"));
    this.#pending.clear();
  }
}

/**
 * Clients that scopes can move to. Made before the runtime, whose `mover` it provides; the host reports who is
 * connected.
 */
export class Receivers {
  readonly #connected = new Map<string, { readonly name: string; readonly reception: ReceiverConnection }>();

  /** Returns a mover that sends `client:` addresses to clients and passes others on. */
  mover(others?: (to: string) => Mover): (to: string) => Mover {
    return (to) => {
      if (to.startsWith(scheme)) return this.#moverTo(to);
      if (others === undefined)
        throw new Refused("peer_unknown", `${to} is not a client's address, and no other kind is configured`);
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

  /** Registers a client under a name, in place of an earlier one. Returns its address. */
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

/** Moves a scope away and answers when it lives there. The same order again tells how the move ended. */
export const depart = async (runtime: Runtime, frame: OrderFrame): Promise<HostFrame> => {
  const { id, scope, to, bodies, within_ms: withinMs } = frame;
  refuseMisnamed(scope);
  await runtime.move(scope, to, {
    ...(bodies === undefined ? {} : { bodies }),
    ...(withinMs === undefined ? {} : { withinMs }),
  });
  return { type: "done", id };
};

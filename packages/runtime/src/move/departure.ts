/**
 * The source of a move, from the record that a scope is moving to the record of how that ended. Only the target decides:
 *
 *   moving ─▶ send ─▶ received ─▶ scope.moved: read-only for ever
 *               └───▶ refused ─▶ decline ─▶ never ─▶ scope.kept: taken back
 *   no answer: it stays moving, and the next to open the scope asks again
 */
import { type Event, type State, wakeAtOf, write } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { Refused, ScopeLost, ScopeMoved, ScopeMoving, textOf } from "../error.ts";
import { travels } from "./attachment.ts";
import { type Stores, packageOf, packageText, travelling } from "./package.ts";
import type { MoveStore } from "../journal/journal.ts";
import { type MoveAnswer, type MovePart, type Mover, partsOf } from "./mover.ts";
import type { Platform } from "../platform.ts";
import { type Roots, secretsOf } from "../scope/wait-token.ts";

interface DeparturePort extends Stores {
  readonly platform: Platform;
  readonly roots: Roots;
  readonly mover?: (to: string) => Mover;
}

/** Bounds the wait for one answer, and the rounds in which all parts are sent. */
const answerMs = 30_000;
const rounds = 3;

/** A scope that is moving, as it was claimed here. */
interface Moving {
  readonly state: State;
  readonly epoch: number;
  readonly to: string;
  readonly nonce: string;
}

export class Departures {
  readonly #port: DeparturePort;
  /** The reasons why scopes were not received, until they are asked for. */
  readonly #refusals = new Map<string, Refused>();
  readonly #unwanted = new Set<string>();

  constructor(port: DeparturePort) {
    this.#port = port;
  }

  /** Marks a scope to be taken back, unless it has arrived. */
  giveUp(scope: string): void {
    this.#unwanted.add(scope);
  }

  /** Returns, and forgets, the reason why a scope was taken back. */
  refusalOf(scope: string): Refused {
    const refusal = this.#refusals.get(scope) ?? new Refused("move_declined", `the move of ${scope} was given up`);
    this.#refusals.delete(scope);
    return refusal;
  }

  /** Throws if a scope could not travel, before it starts to move. */
  async admit(scope: string): Promise<void> {
    if (travels(this.#port.attachments)) await travelling(this.#port, scope);
  }

  /** Brings a move to its end. Resolves if the scope was taken back; throws `ScopeMoved` or `ScopeMoving` otherwise. */
  async conclude(state: State, epoch: number): Promise<void> {
    const { id, status } = state.scope;
    if (status.type === "open") return;
    if (status.type === "moved") throw new ScopeMoved(id, status.to);
    const { to, nonce } = status;
    const moving = { state, epoch, to, nonce };
    const answer = await this.#settled(moving);
    if (answer.type === "received") {
      await this.#append(moving, { type: "scope.moved", nonce });
      this.#unwanted.delete(id);
      throw new ScopeMoved(id, to);
    }
    if (answer.type !== "never") throw new ScopeMoving(id, to, `${to} does not say whether it is there`);
    await this.#append(moving, { type: "scope.kept", nonce });
    this.#unwanted.delete(id);
  }

  async #settled(moving: Moving): Promise<MoveAnswer> {
    const { state, to, nonce } = moving;
    const { id } = state.scope;
    const mover = this.#port.mover?.(to);
    if (mover === undefined) throw new ScopeMoving(id, to, "this host has nobody to ask there");
    const sent = this.#unwanted.has(id) ? undefined : await this.#send(moving, mover);
    if (sent?.type === "received" || sent?.type === "never") return sent;
    if (sent?.type === "refused") this.#refusals.set(id, new Refused(sent.code, sent.message));
    return this.#answer(moving, () => mover.decline(id, nonce));
  }

  async #send(moving: Moving, mover: Mover): Promise<MoveAnswer> {
    const { journal, roots } = this.#port;
    const { state, epoch, nonce } = moving;
    const { id } = state.scope;
    const { moves } = journal;
    if (moves === undefined) throw new Refused("moves_unsupported", `the store of ${id} cannot let scopes move`);
    const secrets = [...secretsOf(roots, id), ...(await moves.secrets(id))];
    const parts = await this.#parts(moves, state, { epoch, nonce, secrets });
    if (parts instanceof Refused) return { type: "refused", code: parts.code, message: parts.message };
    for (let round = 0; round < rounds; round++) {
      const answer = await this.#sendAll(moving, mover, parts);
      if (answer.type !== "again" && answer.type !== "more") return answer;
    }
    throw new ScopeMoving(id, moving.to, `${moving.to} forgot its parts ${rounds} times`);
  }

  /** Returns the parts to send, or the refusal for which the scope is taken back. */
  async #parts(
    moves: MoveStore,
    state: State,
    of: Parameters<typeof packageOf>[3],
  ): Promise<readonly MovePart[] | Refused> {
    try {
      return partsOf(state.scope.id, of.nonce, packageText(await packageOf(this.#port, moves, state, of)));
    } catch (thrown) {
      if (thrown instanceof Refused) return thrown;
      throw thrown;
    }
  }

  async #sendAll(moving: Moving, mover: Mover, parts: readonly MovePart[]): Promise<MoveAnswer> {
    let answer: MoveAnswer = { type: "more" };
    for (let i = 0; i < parts.length && answer.type === "more"; i++)
      answer = await this.#answer(moving, () => mover.send(parts[i] as MovePart));
    return answer;
  }

  /** Waits for an answer. Without one it is unknown if the scope arrived: it stays moving. */
  async #answer({ state, to }: Moving, ask: () => Promise<MoveAnswer>): Promise<MoveAnswer> {
    const unknown = (why: string): ScopeMoving => new ScopeMoving(state.scope.id, to, why);
    return new Promise((resolve, reject) => {
      const late = (): void => reject(unknown(`no answer within ${answerMs} ms`));
      const callOff = this.#port.platform.later(answerMs, late);
      void ask()
        .then(resolve, (thrown: unknown) => reject(unknown(textOf(thrown))))
        .finally(callOff);
    });
  }

  async #append({ state, epoch }: Moving, event: Event): Promise<void> {
    const seq = state.seq + 1;
    const at = Math.max(Math.floor(this.#port.platform.now()), state.at);
    const written = write(state, { seq, at, event });
    if (E.isLeft(written)) throw new Refused(written.left.code, written.left.message);
    const { line, finished, state: after } = written.right;
    const [result] = await this.#port.journal.appendAll([
      {
        scope: state.scope.id,
        epoch,
        expectedSeq: seq,
        appendId: `${epoch}:${seq}`,
        lines: [{ seq, line }],
        finished: finished.map((one) => ({ seq, ...one })),
        wakeAt: wakeAtOf(after),
        approvals: after.scope.status.type === "moved" ? 0 : undefined,
        protocol: after.scope.protocol,
        messages: [],
        received: [],
      },
    ]);
    if (result?.type !== "ok") throw new ScopeLost(`${event.type} was not taken: ${result?.type ?? "no result"}`);
  }
}

/**
 * The target of a move. It gathers the package, replays it, and adopts it in one append that also records that it was
 * received. Before that append nothing of the scope is visible here; a move that was declined cannot come in any more.
 */
import { type State, stateHash, wakeAtOf, write } from "@pawl/sansio-core";
import { newestProtocol } from "@pawl/sansio-core/driver";
import { describe } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type AttachmentStore, BlobMissing, unpackBlobs } from "../journal/blob.ts";
import { Refused } from "../error.ts";
import { Quarantined } from "../scope/history.ts";
import type { Journal, MoveStore } from "../journal/journal.ts";
import type { Fault } from "../scope/offload.ts";
import { unpackAttachments } from "./attachment.ts";
import { type MovePackage, logHash, logOf, readPackage, stateOfLog } from "./package.ts";
import { type MoveAnswer, type MovePart, type Mover, PartBuffer, refused } from "./mover.ts";
import type { Platform } from "../platform.ts";

interface ArrivalPort {
  readonly journal: Journal;
  readonly attachments: AttachmentStore | undefined;
  readonly fault: Fault;
  readonly platform: Platform;
  readonly instance: string;
  /** Resolves once this instance may claim scopes. */
  readonly joined: () => Promise<unknown>;
  /** Returns true if this instance has the scope open. */
  readonly isOpen: (scope: string) => boolean;
  /** Called when a scope has arrived. */
  readonly received: (scope: string) => void;
}

/** The most by which the clock of a scope may be ahead of this host. */
const mostAheadMs = 24 * 60 * 60 * 1000;

export class Arrivals implements Mover {
  readonly #port: ArrivalPort;
  readonly #parts: PartBuffer;

  constructor(port: ArrivalPort) {
    this.#port = port;
    this.#parts = new PartBuffer(port.platform);
  }

  async send(part: MovePart): Promise<MoveAnswer> {
    const { moves } = this.#port.journal;
    if (moves === undefined) return refused("moves_unsupported", "the store of this host cannot take scopes in");
    const ended = await moves.ended(part.scope, part.nonce);
    if (ended !== undefined) return ended;
    const text = this.#parts.add(part);
    return typeof text === "string" ? this.#arrive(part, text, moves) : text;
  }

  async decline(scope: string, nonce: string): Promise<MoveAnswer> {
    const { moves } = this.#port.journal;
    if (moves === undefined) return { type: "never" };
    this.#parts.forget(scope);
    return moves.decline(scope, nonce);
  }

  async #arrive({ scope, nonce }: MovePart, text: string, moves: MoveStore): Promise<MoveAnswer> {
    const read = readPackage(text);
    if (E.isLeft(read)) return refused("invalid_package", describe(read.left));
    const moving = read.right;
    if (moving.scope !== scope || moving.nonce !== nonce)
      return refused("invalid_package", `expected move ${nonce} of ${scope}, found ${moving.nonce} of ${moving.scope}`);
    if (logHash(scope, moving) !== moving.log_hash)
      return refused("log_mismatch", `the lines of ${scope} do not come to the hash that came with them`);
    try {
      const state = stateOfLog(scope, moving);
      return this.#problem(moving, state) ?? (await this.#take(moving, state, moves));
    } catch (thrown) {
      if (thrown instanceof Quarantined || thrown instanceof BlobMissing || thrown instanceof Refused)
        return refused(thrown.code, thrown.message);
      throw thrown;
    }
  }

  /** Returns the reason if a log does not match what its source says about it. */
  #problem({ nonce, epoch, state_hash }: MovePackage, state: State): MoveAnswer | undefined {
    const { status, epoch: own } = state.scope;
    if (status.type !== "moving" || status.nonce !== nonce)
      return refused("scope_is_not_moving", `the log does not end in move ${nonce}: the scope is ${status.type}`);
    if (epoch < own) return refused("stale_epoch", `the log is of epoch ${own}, its source says ${epoch}`);
    const found = stateHash(state);
    if (found !== state_hash)
      return refused("state_mismatch", `expected the state ${state_hash}, the log comes to ${found}`);
    const ahead = state.at - this.#port.platform.now();
    return ahead > mostAheadMs ? refused("clock_ahead", `its time is ${ahead} ms ahead of this host's`) : undefined;
  }

  /**
   * Stores attachments, claims the scope, and adopts it. If someone opens the scope here after the claim, the adoption is fenced.
   * Attachments come before the claim: many of them may take longer than the source waits before it asks again.
   */
  async #take(moving: MovePackage, state: State, moves: MoveStore): Promise<MoveAnswer> {
    const { journal, instance, joined, isOpen, attachments, fault } = this.#port;
    const { scope } = moving;
    const lost = isOpen(scope) ? undefined : await unpackAttachments(attachments, moving, fault);
    if (lost !== undefined) return refused(lost.code, lost.message);
    if (isOpen(scope)) return refused("scope_exists", `${scope} is open on the host that it was to move to`);
    await joined();
    const claim = await journal.claim(scope, instance, newestProtocol, moving.epoch);
    if (claim.type === "owned_by") return refused("owned_by", `${scope} lives with ${claim.instance} there`);
    if (claim.type === "newer_protocol") return refused("newer_protocol", `${scope} is of protocol ${claim.protocol}`);
    await unpackBlobs(journal.blobs, scope, moving.blobs, this.#port.platform.hashText);
    const inTheWay = await this.#inTheWay(moving);
    return inTheWay ?? this.#adopt(moving, state, claim.epoch, moves);
  }

  /** Refuses if the scope exists here. A copy that moved away from here gives way, if the arriving log continues it. */
  async #inTheWay({ scope, lines, segment }: MovePackage): Promise<MoveAnswer | undefined> {
    const own = await logOf(this.#port.journal, scope);
    if (own.lines.length === 0 && own.segment === undefined) return undefined;
    const { status } = stateOfLog(scope, own).scope;
    if (status.type !== "moved") return refused("scope_exists", `${scope} is ${status.type} where it was to move to`);
    const theirs = new Map(lines.map(({ seq, line }) => [seq, line]));
    const base = segment?.base ?? 0;
    const other = own.lines.slice(0, -1).find(({ seq, line }) => seq > base && theirs.get(seq) !== line);
    if (other === undefined) return undefined;
    return refused("other_history", `${scope} left that host with another event ${other.seq}`);
  }

  async #adopt(moving: MovePackage, state: State, epoch: number, moves: MoveStore): Promise<MoveAnswer> {
    const { platform, instance, received } = this.#port;
    const { scope, nonce, lines, kept, segment, letters, secrets } = moving;
    const seq = state.seq + 1;
    const at = Math.max(Math.floor(platform.now()), state.at);
    const written = write(state, { seq, at, event: { type: "scope.received", nonce, epoch, owner: instance } });
    if (E.isLeft(written)) return refused(written.left.code, written.left.message);
    const { line, finished, state: after } = written.right;
    const result = await moves.adopt({
      scope,
      epoch,
      nonce,
      appendId: `${epoch}:${seq}`,
      lines: [...lines, { seq, line }],
      kept,
      ...(segment !== undefined && { segment }),
      finished: [...moving.finished, ...finished.map((one) => ({ seq, ...one }))],
      letters,
      wakeAt: wakeAtOf(after),
      approvals: after.awaitingApproval,
      protocol: after.scope.protocol,
      secrets,
    });
    if (result.type === "never") return result;
    if (result.type !== "ok") return refused("not_taken", `the store there did not take ${scope}: ${result.type}`);
    received(scope);
    return { type: "received", epoch };
  }
}

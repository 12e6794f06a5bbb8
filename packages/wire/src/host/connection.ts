/**
 * The host's end of a client's connection.
 *
 *   connected ─▶ greeting ─▶ open ─▶ closed
 *
 * For each frame: parse it, check the client's right, answer when the answer is durable. Nothing that a client sends
 * can throw. Questions in flight are counted, so that one client cannot use more memory than its limits allow.
 *
 * Knows no platform: frames come in by `receive`, and leave by the port of its socket.
 */
import { entryOf } from "@pawl/runtime/driver";
import { type ValueError, describe } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import {
  type ClientFrame,
  closeCodes,
  type CloseReason,
  type HostError,
  type HostFrame,
  protocolVersion,
  type Question,
} from "../frame/index.ts";
import { hostErrorOf, isLetGo, ownerOf } from "./error.ts";
import { FrameReader } from "./frame-reader.ts";
import { InFlight, RegisteredNames } from "./limits.ts";
import { Outgoing, closeReasonOf } from "./outgoing.ts";
import type { ConnectionPort, Forwards, HostSocket } from "./port.ts";
import { answer, awaitingApproval, rights, scopeOf, sessionOf, signal } from "./question.ts";
import { type Claims, claimsOf, missingRight } from "./token.ts";
import { arrive, depart, ReceiverConnection } from "./move.ts";
import { Executors } from "./executor.ts";
import { Subscription } from "./subscription.ts";

type Of<T extends ClientFrame["type"]> = Extract<ClientFrame, { readonly type: T }>;

/** Speaks with one client: takes its frames, and sends what follows from them, until either side closes. */
export class HostConnection {
  readonly #socket: HostSocket;
  readonly #port: ConnectionPort;
  readonly #reader: FrameReader;
  readonly #outgoing: Outgoing;
  readonly #inFlight: InFlight;
  readonly #names: RegisteredNames;
  readonly #executors: Executors;
  readonly #subscriptions = new Map<number, Subscription>();
  #claims: Claims | undefined;
  #reception: ReceiverConnection | undefined;
  #forwarding: Forwards | undefined;
  #badFrames = 0;
  /** Cancels the wait for the hello, then that for the end of the token. */
  #callOff: () => void;

  constructor(socket: HostSocket, port: ConnectionPort) {
    this.#socket = socket;
    this.#port = port;
    this.#inFlight = new InFlight(port.limits);
    this.#names = new RegisteredNames(port.limits);
    this.#reader = new FrameReader(socket, port, (frame, bytes) => this.#take(frame, bytes));
    this.#outgoing = new Outgoing(socket, port.limits, port.turns, () => this.close("slow_reader"));
    const { runtime, log } = port;
    const send = (frame: HostFrame): void => void this.#outgoing.send(frame);
    this.#executors = new Executors({ runtime, log, names: this.#names, send });
    this.#callOff = port.turns.clock.later(port.limits.helloMs, () => this.close("hello_expected"));
  }

  get isGreeted(): boolean {
    return this.#claims !== undefined;
  }

  close(reason: CloseReason, message: string = reason): void {
    const said = closeReasonOf(message);
    if (!this.isGreeted) this.#port.log(entryOf("client.refused", { why: reason, message: said }));
    this.end();
    this.#socket.close(closeCodes[reason], said);
  }

  /** Ends all that was for this client: its socket is closed. */
  end(): void {
    this.#callOff();
    if (this.#claims !== undefined) this.#port.log(entryOf("client.gone", { by: this.#claims.by }));
    this.#claims = undefined;
    this.#inFlight.abort();
    for (const subscription of this.#subscriptions.values()) subscription.end();
    this.#subscriptions.clear();
    this.#executors.leave();
    this.#forwarding?.close();
    if (this.#reception !== undefined) this.#port.receivers.leave(this.#reception);
    this.#outgoing.end();
  }

  #error(error: HostError): void {
    this.#outgoing.send({ type: "error", ...error });
  }

  /** Takes a frame: its text, or nothing for a binary one. */
  receive(text: string | undefined): void {
    this.#reader.receive(text);
  }

  #take(frame: E.Either<ValueError, ClientFrame>, bytes: number): void {
    if (E.isLeft(frame)) return this.#rejectFrame(describe(frame.left));
    this.#badFrames = 0;
    this.#port.heard?.(frame.right);
    if (this.#claims === undefined) this.#greet(frame.right);
    else this.#handle(frame.right, bytes, this.#claims);
  }

  #rejectFrame(message: string): void {
    this.#badFrames += 1;
    if (this.#claims === undefined) return this.close("hello_expected", message);
    this.#error({ code: "invalid_frame", message });
    if (this.#badFrames >= this.#port.limits.maxBadFrames) this.close("too_many_bad_frames");
  }

  #greet(frame: ClientFrame): void {
    if (frame.type !== "hello") return this.close("hello_expected", `expected hello, found ${frame.type}`);
    if (frame.protocol !== protocolVersion) {
      const message = `this host speaks protocol ${protocolVersion}, found ${frame.protocol}`;
      return this.close("unsupported_protocol", message);
    }
    const { secrets } = this.#port;
    const claims = claimsOf(secrets, frame.token, this.#now());
    if (E.isRight(claims)) return this.#welcome(claims.right, frame.token);
    const wasGood = E.isRight(claimsOf(secrets, frame.token, 0));
    this.close(wasGood ? "token_expired" : "unauthorized", claims.left);
  }

  #welcome(claims: Claims, token: string): void {
    const { heartbeatMs, maxMessageBytes, maxInFlight } = this.#port.limits;
    this.#forwarding = this.#port.forwardsFor?.(token, (frame) => void this.#outgoing.send(frame));
    const { by, expires_at } = claims;
    this.#claims = claims;
    this.#port.log(entryOf("client.welcomed", { by }));
    this.#callOff();
    this.#socket.welcomed();
    this.#expire(expires_at);
    this.#outgoing.send({
      type: "welcome",
      protocol: protocolVersion,
      by,
      heartbeat_ms: heartbeatMs,
      max_message_bytes: maxMessageBytes,
      max_in_flight: maxInFlight,
      expires_at,
    });
  }

  #expire(at: number): void {
    const rest = at - this.#now();
    if (rest <= 0) return this.close("token_expired");
    this.#callOff = this.#port.turns.clock.later(rest, () => this.#expire(at));
  }

  #now(): number {
    return this.#port.turns.clock.now();
  }

  #handle(frame: ClientFrame, bytes: number, claims: Claims): void {
    switch (frame.type) {
      case "hello":
        return this.#error({ code: "hello_twice", message: "this connection has said hello already" });
      case "ping":
        return void this.#outgoing.send({ type: "pong", n: frame.n });
      case "seen":
        this.#forwarding?.tell(frame);
        return this.#subscriptions.get(frame.id)?.seen(frame.cursor);
      case "unobserve":
        this.#forwarding?.tell(frame);
        this.#inFlight.leave(frame.id);
        return this.#subscriptions.get(frame.id)?.end();
      case "execute":
        return this.#executors.register(frame, bytes, claims);
      case "receive":
        return this.#receive(frame, bytes, claims);
      case "move_answer":
        return this.#reception?.answered(frame.n, frame.answer);
      case "progress":
        return this.#executors.progress(frame);
      default:
        return this.#answerQuestion(frame, bytes, claims);
    }
  }

  #problem(frame: Question, bytes: number, claims: Claims): HostError | undefined {
    const { id, type, scope } = frame;
    const problem = this.#inFlight.problem(id, bytes);
    if (problem !== undefined) return problem;
    const missing = missingRight(claims, rights[type], scope);
    if (missing !== undefined) return { id, code: "permission_denied", message: missing };
    const address = this.#port.ownerOf?.(scope);
    if (address === undefined) return undefined;
    return { id, code: "owned_by", message: `scope ${scope} lives elsewhere: ask ${address}`, address };
  }

  #answerQuestion(frame: Question, bytes: number, claims: Claims): void {
    const problem = this.#problem(frame, bytes, claims);
    if (problem !== undefined) return this.#error(problem);
    const { id } = frame;
    void this.#dispatch(frame, claims, this.#inFlight.begin(id, bytes))
      .catch((thrown: unknown) => this.#failed(frame, thrown))
      .then((said) => {
        this.#inFlight.end(id);
        return said === undefined ? undefined : this.#outgoing.answer(said);
      });
  }

  /** Returns the error that a client is told, or the owner's answer. While the host drains, the client is told to go elsewhere. */
  #failed(frame: Question, thrown: unknown): HostFrame | Promise<HostFrame> | undefined {
    const owner = ownerOf(thrown);
    if (owner !== undefined && this.#forwarding !== undefined) return this.#forwarding.ask(owner, frame);
    if (!isLetGo(thrown) || this.#port.runtime.readiness !== "draining")
      return { type: "error", id: frame.id, ...hostErrorOf(thrown, this.#port.log) };
    this.close("going_away");
    return undefined;
  }

  #dispatch(frame: Question, claims: Claims, gone: AbortSignal): Promise<HostFrame> {
    switch (frame.type) {
      case "observe":
        return this.#subscribe(frame, async (subscription) =>
          subscription.follow(await sessionOf(this.#port.runtime, frame.scope, frame.type), frame.after),
        );
      case "watch":
        return this.#subscribe(frame, async (subscription) =>
          subscription.watch(await scopeOf(this.#port.runtime, frame.scope), frame.from),
        );
      case "stream":
      case "read_turn":
        return this.#subscribe(frame, async (subscription) =>
          subscription.read(await scopeOf(this.#port.runtime, frame.scope), frame),
        );
      case "awaiting_approval":
        return awaitingApproval(this.#port.runtime, frame);
      case "signal":
        return signal(this.#port.runtime, frame);
      case "move":
        return depart(this.#port.runtime, frame);
      case "move_part":
      case "decline_move":
        return arrive(this.#port.runtime, frame);
      case "settle":
        return this.#executors.settle(frame);
      default:
        return this.#answer(frame, claims, gone);
    }
  }

  #receive({ id, name }: Of<"receive">, bytes: number, claims: Claims): void {
    if (!claims.rights.includes("move"))
      return this.#error({ id, code: "permission_denied", message: `\`${claims.by}\` has no right to move` });
    const problem = this.#names.register(id, `receiver:${name}`, bytes);
    if (problem !== undefined) return this.#error(problem);
    this.#reception ??= new ReceiverConnection(claims, (frame) => this.#outgoing.send(frame));
    const address = this.#port.receivers.enter(name, this.#reception);
    this.#outgoing.send({ type: "receiving", id, address });
  }

  async #answer(frame: Parameters<typeof answer>[1], claims: Claims, gone: AbortSignal): Promise<HostFrame> {
    const session = await sessionOf(this.#port.runtime, frame.scope, frame.type);
    return answer(session, frame, { by: claims.by, gone });
  }

  /** Runs a subscription until the client ends it or disconnects. */
  async #subscribe(
    { id, window }: Of<"observe" | "watch" | "stream" | "read_turn">,
    tell: (subscription: Subscription) => Promise<void>,
  ): Promise<HostFrame> {
    const subscription = new Subscription(id, window, this.#outgoing);
    this.#subscriptions.set(id, subscription);
    try {
      await tell(subscription);
      return { type: "done", id };
    } finally {
      this.#subscriptions.delete(id);
    }
  }
}

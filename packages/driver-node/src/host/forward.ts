/**
 * Forwarding: a question about a scope that another host owns goes to that host, over a connection in the client's name, and
 * its answers come back as they are. The questions keep the client's numbers, so that nothing is translated.
 *
 *   client ── question 7 ──▶ this host ── question 7 ──▶ owner
 *          ◀── answer 7 ────           ◀── answer 7 ────
 *
 * A host forwards no question that was forwarded to it. Where the owner cannot be reached, or moved on, the client is told
 * to ask again in a moment: this host may own the scope by then.
 */
import { describe } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { WebSocket } from "ws";
import {
  ClientFrame,
  type HostError,
  HostFrame,
  closeCodes,
  type Question,
  frameText,
  protocolVersion,
  readFrame,
} from "@pawl/wire/frame";
import type { Forwards } from "@pawl/wire/host";

/** Marks a connection whose questions were forwarded. */
export const forwardedHeader = "x-pawl-forwarded";

interface ForwardPort {
  readonly token: string;
  readonly maxMessageBytes: number;
  /** Sends the client a frame that is not the last answer to its question. */
  readonly send: (frame: HostFrame) => void;
}

type Heard = Extract<ClientFrame, { readonly type: "seen" | "unobserve" }>;

interface Asked {
  readonly frame: Question;
  readonly answer: (frame: HostFrame) => void;
}

/** The time in which an owner must take a connection. */
const connectMs = 2000;
/** The owner was there a moment ago: it let the scope go, or has stopped. */
const goneRetryMs = 100;
/** The owner cannot be reached, and keeps its scopes until its lease has run out. */
const awayRetryMs = 1000;

/** Reasons for which the owner would refuse the client itself. */
const refusals: ReadonlySet<number> = new Set([
  closeCodes.unauthorized,
  closeCodes.token_expired,
  closeCodes.unsupported_protocol,
]);

const subscriptions: ReadonlySet<string> = new Set(["observe", "watch", "stream"]);

/** Tells whether a frame is the last answer to a question. */
const isLast = ({ type }: Question, answer: HostFrame): boolean =>
  !subscriptions.has(type) || answer.type === "done" || answer.type === "error";

/** One connection to an owner, in the name of one client. */
class Pipe {
  readonly #address: string;
  readonly #port: ForwardPort;
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, Asked>();
  #isWelcome = false;

  constructor(address: string, port: ForwardPort, ended: () => void) {
    this.#address = address;
    this.#port = port;
    const maxPayload = port.maxMessageBytes;
    const headers = { [forwardedHeader]: "1" };
    this.#socket = new WebSocket(address, { headers, maxPayload, handshakeTimeout: connectMs });
    this.#socket.on("open", () => this.#write({ type: "hello", protocol: protocolVersion, token: port.token }));
    this.#socket.on("message", (data) => this.#receive(String(data)));
    this.#socket.on("error", () => undefined); // A close event follows.
    this.#socket.on("close", (code) => {
      ended();
      this.#end(code);
    });
  }

  #write(frame: ClientFrame): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frameText(ClientFrame, frame));
  }

  ask(frame: Question): Promise<HostFrame> {
    return new Promise((answer) => {
      this.#asked.set(frame.id, { frame, answer });
      if (this.#isWelcome) this.#write(frame);
    });
  }

  /** Passes on what a client says of one of its questions; false if the question is not here. */
  tell(heard: Heard): boolean {
    if (!this.#asked.has(heard.id)) return false;
    if (this.#isWelcome) this.#write(heard);
    return true;
  }

  #receive(text: string): void {
    const read = readFrame(HostFrame, text, this.#port.maxMessageBytes);
    if (E.isLeft(read)) return this.#socket.close(1002, describe(read.left).slice(0, 100));
    const frame = read.right;
    if (frame.type === "welcome") return this.#welcome();
    const asked = "id" in frame && frame.id !== undefined ? this.#asked.get(frame.id) : undefined;
    if (asked === undefined) return;
    if (!isLast(asked.frame, frame)) return this.#port.send(frame);
    this.#asked.delete(asked.frame.id);
    asked.answer(frame.type === "error" && frame.code === "owned_by" ? this.#later(asked, goneRetryMs) : frame);
  }

  #welcome(): void {
    this.#isWelcome = true;
    for (const { frame } of this.#asked.values()) this.#write(frame);
  }

  #later({ frame: { id, scope } }: Asked, ms: number): HostFrame {
    const message = `the host that owned ${scope}, at ${this.#address}, does not answer: ask again`;
    return { type: "error", id, code: "scope_lost", message, retry_after_ms: ms };
  }

  /** Answers what is open: the owner refuses the client, which may go there itself, or it is gone. */
  #end(code: number): void {
    for (const asked of this.#asked.values()) {
      const { id, scope } = asked.frame;
      const message = `scope ${scope} is owned by the host at ${this.#address}, which does not take this token`;
      const refused: HostError = { id, code: "owned_by", message, address: this.#address };
      const isRefused = !this.#isWelcome && refusals.has(code);
      asked.answer(
        isRefused ? { type: "error", ...refused } : this.#later(asked, this.#isWelcome ? goneRetryMs : awayRetryMs),
      );
    }
    this.#asked.clear();
  }

  close(): void {
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), connectMs).unref();
  }
}

/** Forwards the questions of one client, over one connection for each owner. */
export class Forwarding implements Forwards {
  readonly #port: ForwardPort;
  readonly #pipes = new Map<string, Pipe>();

  constructor(port: ForwardPort) {
    this.#port = port;
  }

  /** Resolves with the last answer. */
  ask(address: string, frame: Question): Promise<HostFrame> {
    const known = this.#pipes.get(address);
    if (known !== undefined) return known.ask(frame);
    const pipe: Pipe = new Pipe(address, this.#port, () => {
      if (this.#pipes.get(address) === pipe) this.#pipes.delete(address);
    });
    this.#pipes.set(address, pipe);
    return pipe.ask(frame);
  }

  tell(heard: Heard): void {
    for (const pipe of this.#pipes.values()) if (pipe.tell(heard)) return;
  }

  close(): void {
    for (const pipe of this.#pipes.values()) pipe.close();
    this.#pipes.clear();
  }
}

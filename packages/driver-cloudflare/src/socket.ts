/**
 * The WebSockets of an object: each is a connection of the host protocol, and may outlive the object's memory. The client's pings are
 * answered by the platform, and wake nobody.
 */
import type { Log, Runtime } from "@pawl/runtime";
import { ClientFrame, HostFrame, closeCodes, frameText } from "@pawl/wire/frame";
import {
  type HostClock,
  type HostLimits,
  type HostSocket,
  type Secrets,
  HostConnection,
  Receivers,
  SendTurns,
  checkSecrets,
  checkedLimits,
} from "@pawl/wire/host";
import { Asked } from "./asked.ts";
import type { ObjectSocket } from "./object.ts";
import type { Tables } from "./table.ts";

export interface SocketOptions {
  /** Secrets that verify the tokens of clients, newest first. Without them no client may connect. */
  readonly secrets?: Secrets;
  readonly limits?: Partial<HostLimits>;
}

interface SocketsPort {
  /** The sockets that stayed open while the object slept. */
  readonly open: () => readonly ObjectSocket[];
  readonly tables: Tables;
  /** Returns where a scope lives, unless it is the object's own. */
  readonly ownerOf: (scope: string) => string | undefined;
  readonly clock: HostClock;
  readonly options: SocketOptions;
  readonly log: Log;
}

interface Live {
  readonly connection: HostConnection;
  readonly asked: Asked;
}

const openState = 1;

/** Texts of a client's ping, and of its answer. The heartbeat of clients has no other number. */
export const heartbeatTexts = {
  ping: frameText(ClientFrame, { type: "ping", n: 0 }),
  pong: frameText(HostFrame, { type: "pong", n: 0 }),
} as const;

/** Says which answers to frames that are taken once more the client has had before: each once. */
class Repeats {
  readonly #left: Set<string>;

  constructor(frames: readonly ClientFrame[]) {
    this.#left = new Set(
      frames.flatMap((frame) => {
        if (frame.type === "hello") return ["welcome"];
        if (frame.type === "execute") return [`done ${frame.id}`];
        return frame.type === "watch" && frame.from !== undefined ? [`watching ${frame.id}`] : [];
      }),
    );
  }

  takes(frame: HostFrame): boolean {
    const id = "id" in frame && frame.id !== undefined ? ` ${frame.id}` : "";
    return this.#left.delete(`${frame.type}${id}`);
  }
}

export class Sockets {
  readonly #port: SocketsPort;
  readonly #turns: SendTurns;
  readonly #limits: HostLimits;
  readonly #receivers = new Receivers();
  readonly #live = new Map<ObjectSocket, Live>();

  constructor(port: SocketsPort) {
    this.#port = port;
    if (port.options.secrets !== undefined) checkSecrets(port.options.secrets);
    this.#limits = checkedLimits(port.options.limits);
    this.#turns = new SendTurns(this.#limits, port.clock);
  }

  /** Says whether clients may connect. */
  get isOpen(): boolean {
    return this.#port.options.secrets !== undefined;
  }

  /** Takes the object's end of a socket that the platform has accepted. */
  accept(socket: ObjectSocket, runtime: Runtime): void {
    socket.serializeAttachment(crypto.randomUUID());
    this.#connect(socket, runtime);
  }

  /** Takes up the sockets that stayed open while the object slept. To be called before the runtime does anything. */
  restore(runtime: Runtime): void {
    for (const socket of this.#port.open()) if (!this.#live.has(socket)) this.#connect(socket, runtime);
  }

  #connect(socket: ObjectSocket, runtime: Runtime): void {
    const asked = new Asked(this.#port.tables, String(socket.deserializeAttachment()));
    const frames = asked.restore();
    const repeats = new Repeats(frames);
    const end: HostSocket = {
      get isOpen() {
        return socket.readyState === openState;
      },
      buffered: 0,
      send: (text, left, frame) => {
        asked.said(frame);
        if (!repeats.takes(frame)) socket.send(text);
        left();
      },
      close: (code, reason) => {
        this.#live.delete(socket);
        asked.end();
        socket.close(code, reason);
      },
      welcomed: () => undefined, // The platform sees a client that is gone.
    };
    const {
      log,
      options: { secrets },
    } = this.#port;
    if (secrets === undefined) return socket.close(closeCodes.unauthorized, "this object takes no clients any more");
    let isRestored = false;
    const connection = new HostConnection(end, {
      runtime,
      secrets,
      limits: this.#limits,
      turns: this.#turns,
      log,
      receivers: this.#receivers,
      ownerOf: this.#port.ownerOf,
      heard: (frame) => void (isRestored && asked.heard(frame)),
    });
    this.#live.set(socket, { connection, asked });
    for (const frame of frames) connection.receive(frameText(ClientFrame, frame));
    isRestored = true;
  }

  /** Takes a message of a client. */
  message(socket: ObjectSocket, message: string | ArrayBuffer): void {
    this.#live.get(socket)?.connection.receive(typeof message === "string" ? message : undefined);
  }

  /** Ends a connection: the client has gone. */
  closed(socket: ObjectSocket): void {
    const live = this.#live.get(socket);
    this.#live.delete(socket);
    live?.connection.end();
    live?.asked.end();
  }
}

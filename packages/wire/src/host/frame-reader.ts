/**
 * Reads the frames of one client, in their order. A long one is read a slice at a time, between which others are served;
 * meanwhile nothing more is read from its socket, so that what waits stays within what the platform had read already.
 */
import { inTurns } from "@pawl/runtime/driver";
import type { ValueError } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ClientFrame, readFrame, readSlices } from "../frame/index.ts";
import type { ConnectionPort, HostSocket } from "./port.ts";

type Read = E.Either<ValueError, ClientFrame>;

/** A frame of more characters is read in turns. */
const longFrame = 65_536;

const binary: Read = E.left({
  code: "invalid_json",
  path: [],
  message: "expected a text frame, found a binary one",
});

export class FrameReader {
  readonly #socket: HostSocket;
  readonly #port: Pick<ConnectionPort, "limits" | "turns">;
  readonly #take: (frame: Read, characters: number) => void;
  /** Frames that wait until a long one before them is read. */
  #waiting: (string | undefined)[] | undefined;

  constructor(
    socket: HostSocket,
    port: Pick<ConnectionPort, "limits" | "turns">,
    take: (frame: Read, characters: number) => void,
  ) {
    this.#socket = socket;
    this.#port = port;
    this.#take = take;
  }

  /** Reads a frame: its text, or nothing for a binary one. */
  receive(text: string | undefined): void {
    if (!this.#socket.isOpen) return;
    if (this.#waiting !== undefined) return void this.#waiting.push(text);
    const isLong = text !== undefined && text.length > longFrame && this.#socket.pause !== undefined;
    if (isLong) void this.#readInTurns(text);
    else this.#took(text, text === undefined ? binary : readFrame(ClientFrame, text, this.#most));
  }

  get #most(): number {
    return this.#port.limits.maxMessageBytes;
  }

  #took(text: string | undefined, frame: Read): void {
    if (this.#socket.isOpen) this.#take(frame, text?.length ?? 0);
  }

  async #readInTurns(long: string): Promise<void> {
    const waiting: (string | undefined)[] = (this.#waiting = [long]);
    this.#socket.pause?.();
    for (let at = 0; at < waiting.length && this.#socket.isOpen; at += 1) {
      const text = waiting[at];
      const slices = text === undefined ? undefined : readSlices(text, this.#most);
      this.#took(text, slices === undefined ? binary : await inTurns(slices, this.#port.turns.clock));
    }
    this.#waiting = undefined;
    this.#socket.resume?.();
  }
}

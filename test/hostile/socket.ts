/** A client without manners: sends what it likes, and records what it hears. */
import { WebSocket } from "ws";

export interface Heard {
  readonly type: string;
  readonly id?: number;
  readonly code?: string;
  readonly [field: string]: unknown;
}

export class Socket {
  readonly #socket: WebSocket;
  readonly #heard: Heard[] = [];
  #wake: (() => void) | undefined;
  #isOpen = true;
  /** What it heard that is no JSON. */
  readonly garbage: string[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("error", () => undefined); // A close event follows.
    socket.on("message", (data) => this.#hear(String(data)));
    socket.on("close", () => {
      this.#isOpen = false;
      this.#wake?.();
    });
  }

  /** Opens a connection; undefined where the host refuses it. */
  static async open(url: string, headers: { readonly [name: string]: string } = {}): Promise<Socket | undefined> {
    const socket = new Socket(new WebSocket(url, { headers }));
    const isUp = await new Promise<boolean>((resolve) => {
      socket.#socket.once("open", () => resolve(true));
      socket.#socket.once("close", () => resolve(false));
    });
    return isUp ? socket : undefined;
  }

  /** Opens a connection and says hello; undefined where the host does not welcome it. */
  static async greeted(url: string, token: string): Promise<Socket | undefined> {
    const socket = await Socket.open(url);
    socket?.send({ type: "hello", protocol: 1, token });
    const welcome = await socket?.until(({ type }) => type === "welcome");
    return welcome === undefined ? undefined : socket;
  }

  #hear(text: string): void {
    try {
      this.#heard.push(JSON.parse(text) as Heard);
    } catch {
      this.garbage.push(text.slice(0, 200));
    }
    this.#wake?.();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get heard(): readonly Heard[] {
    return this.#heard;
  }

  send(frame: unknown): void {
    if (this.#isOpen) this.#socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Returns the first frame that fits; undefined where the connection ends before, or the time is over. */
  async until(fits: (heard: Heard) => boolean, withinMs = 20_000): Promise<Heard | undefined> {
    const end = performance.now() + withinMs;
    for (let seen = 0; ;) {
      for (; seen < this.#heard.length; seen += 1) {
        const heard = this.#heard[seen] as Heard;
        if (fits(heard)) return heard;
      }
      const left = end - performance.now();
      if (!this.#isOpen || left <= 0) return undefined;
      await this.#news(left);
    }
  }

  #news(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  ask(
    frame: { readonly id: number; readonly [field: string]: unknown },
    withinMs?: number,
  ): Promise<Heard | undefined> {
    this.send(frame);
    return this.until(({ id }) => id === frame.id, withinMs);
  }

  /** Reads nothing more. */
  pause(): void {
    this.#socket.pause();
  }

  /** Breaks off, without a word. */
  reset(): void {
    this.#socket.terminate();
  }
}

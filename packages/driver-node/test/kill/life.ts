/** Controls test processes: start, order, stop, wake and kill by process id. */
import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Order } from "./order.ts";

type Said =
  | { readonly type: "loaded" }
  | { readonly type: "up"; readonly url: string }
  /** How long its thread worked at a stretch, and in all: milliseconds of processor time. */
  | { readonly type: "watched"; readonly longest: number; readonly spent: number }
  | { readonly type: "weighs"; readonly heap: number; readonly resident: number };

const host = join(import.meta.dirname, "process.ts");
/** Compile cache, so that processes start faster. */
const compiled = join(tmpdir(), "pawl-kills-cache");

export class Life {
  readonly #child: ChildProcess;
  readonly #loaded: Promise<unknown>;
  /** The signal that ended it. */
  readonly ended: Promise<NodeJS.Signals | null>;

  /** Starts the process, which loads its modules and waits for an order. */
  constructor(execArgv: readonly string[] = [], program: string = host) {
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    const stdio = ["ignore", "ignore", "inherit", "ipc"] satisfies ForkOptions["stdio"];
    this.#child = fork(program, { env, execArgv: [...execArgv], stdio });
    this.#loaded = this.#said("loaded");
    this.#loaded.catch(() => undefined); // `begin` reports the error.
    this.ended = once(this.#child, "exit").then(([, signal]) => signal as NodeJS.Signals | null);
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  #said<T extends Said["type"]>(type: T): Promise<Extract<Said, { readonly type: T }>> {
    return new Promise((resolve, reject) => {
      const hear = (said: Said): void => {
        if (said.type !== type) return;
        this.#child.off("message", hear).off("exit", fail);
        resolve(said as Extract<Said, { readonly type: T }>);
      };
      const fail = (code: number | null, signal: string | null): void =>
        reject(new Error(`the process ended (${code ?? signal}) before it said \`${type}\``));
      this.#child.on("message", hear).on("exit", fail);
    });
  }

  /** Returns its address; undefined if it is killed first. */
  async begin(order: Order): Promise<string | undefined> {
    await this.#loaded;
    const up = this.#said("up");
    this.#child.send(order);
    try {
      return (await up).url;
    } catch (thrown) {
      if ((await this.ended) !== "SIGKILL") throw thrown;
      return undefined;
    }
  }

  /** Returns the bytes of its heap and its resident memory. */
  async weight(): Promise<{ readonly heap: number; readonly resident: number }> {
    const weighs = this.#said("weighs");
    this.#child.send("weigh");
    return weighs;
  }

  /** Watches how long its thread works at a stretch while something is done. */
  async watch(work: () => Promise<unknown>): Promise<{ readonly longest: number; readonly spent: number }> {
    await this.#watched();
    await work();
    return this.#watched();
  }

  #watched(): Promise<{ readonly longest: number; readonly spent: number }> {
    const watched = this.#said("watched");
    this.#child.send("watch");
    return watched;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  wake(): void {
    this.#child.kill("SIGCONT");
  }
}

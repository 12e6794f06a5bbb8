/** The hosts of a proof, one after the other: started, ended as a deployment does, or killed with SIGKILL by their process id. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Order, Word } from "./host.ts";

const program = join(import.meta.dirname, "host.ts");
const compiled = join(tmpdir(), "pawl-proofs-cache");

/** One process of a host. */
export class Life {
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = once(child, "exit");
  }

  /** Starts a host, and resolves once its runtime is open. */
  static async start(order: Order): Promise<Life> {
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    const life = new Life(fork(program, { env, stdio: ["ignore", "ignore", "inherit", "ipc"] }));
    await life.#said("loaded");
    life.#child.send(order);
    await life.#said("up");
    return life;
  }

  #said(word: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const hear = (said: unknown): void => {
        if (said !== word) return;
        this.#child.off("message", hear).off("exit", fail);
        resolve();
      };
      const fail = (): void => reject(new Error(`a host ended before it said \`${word}\``));
      this.#child.on("message", hear).on("exit", fail);
    });
  }

  async #tell(word: Word): Promise<void> {
    this.#child.send(word);
  }

  /** Lets the host do for these what its program does on a word: approve, answer. */
  async act(who: readonly string[]): Promise<void> {
    const acted = this.#said("acted");
    await this.#tell({ type: "act", who });
    await acted;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async close(): Promise<void> {
    await this.#tell({ type: "close" });
    await this.ended;
  }
}

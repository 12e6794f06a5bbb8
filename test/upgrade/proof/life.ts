/** The hosts of a proof, one after the other: started, ended as a deployment does, or killed with SIGKILL by their process id. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Looked, Order, Word } from "./host.ts";

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
    await life.#word("loaded");
    life.#child.send(order);
    await life.#word("up");
    return life;
  }

  #said<A = unknown>(isIt: (said: unknown) => boolean, what: string): Promise<A> {
    return new Promise((resolve, reject) => {
      const hear = (said: unknown): void => {
        if (!isIt(said)) return;
        this.#child.off("message", hear).off("exit", fail);
        resolve(said as A);
      };
      const fail = (): void => reject(new Error(`a host ended before it said \`${what}\``));
      this.#child.on("message", hear).on("exit", fail);
    });
  }

  #word(word: string): Promise<unknown> {
    return this.#said((said) => said === word, word);
  }

  #tell(word: Word): void {
    this.#child.send(word);
  }

  /** Lets a person approve or answer, and resolves once that is on record. */
  async act(what: "approve" | "answer", tokens: { readonly [who: string]: string }): Promise<void> {
    const acted = this.#word("acted");
    this.#tell({ type: "act", what, tokens });
    await acted;
  }

  /** Counts sessions by the phases of their calls, and by their protocols. */
  look(): Promise<Looked> {
    const looked = this.#said<Looked>(
      (said) => typeof said === "object" && said !== null && "type" in said && said.type === "looked",
      "looked",
    );
    this.#tell({ type: "look" });
    return looked;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async close(): Promise<void> {
    this.#tell({ type: "close" });
    await this.ended;
  }
}

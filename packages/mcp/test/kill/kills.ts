/**
 * Kills a server in every state of a task, and asks another process for the task. Nothing may be lost: each task comes to an
 * end that fits what was asked of it. Nothing may be done twice: the ledger outside has one key for each task that was done.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ask as askServer } from "../open.ts";

/** The states in which a server dies. */
export const states = [
  "created",
  "working",
  "input required",
  "input given",
  "cancelling",
  "completed, not fetched",
] as const;
type State = (typeof states)[number];

export interface KillReport {
  readonly kills: number;
  /** What went wrong: a task that was lost, or work that was done twice. Empty where all is well. */
  readonly wrong: readonly string[];
}

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

const start = async (file: string, ledger: string): Promise<Server> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "server.ts"), file, ledger], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  for await (const url of createInterface({ input: child.stdout })) return { child, url };
  throw new Error("the server ended before it said where it is");
};

const kill = ({ child }: Server): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Matrix {
  readonly #home = mkdtempSync(join(tmpdir(), "pawl-mcp-kills-"));
  readonly #file = join(this.#home, "tasks.db");
  readonly #ledger = join(this.#home, "ledger");
  readonly wrong: string[] = [];
  #server: Server | undefined;

  async #ask(method: string, params: object) {
    const { url } = this.#server as Server;
    const { result, error } = await askServer(
      (request) =>
        fetch(url, { method: "POST", headers: request.headers, body: request.body, duplex: "half" } as RequestInit),
      method,
      params,
    );
    if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result;
  }

  /** Asks for a task until it is as one of the wanted. */
  async #until(taskId: string, ...wanted: readonly string[]) {
    for (let tries = 0; tries < 1500; tries++) {
      const task = await this.#ask("tasks/get", { taskId });
      if (wanted.includes(task.status)) return task;
      await pause(10);
    }
    throw new Error(`a task did not become ${wanted.join(" or ")}`);
  }

  #keysOf(id: string): readonly string[] {
    const lines = readFileSync(this.#ledger, "utf8").split("\n");
    return [...new Set(lines.filter((line) => line.startsWith(`${id} `)))];
  }

  /** Brings a task into a state, without asking for its end. */
  async #reach(state: State, id: string): Promise<string> {
    const asks = state.startsWith("input");
    const ms = state === "completed, not fetched" ? 0 : 150;
    const { taskId } = await this.#ask("tools/call", { name: "work", arguments: { id, ms, asks } });
    if (asks) await this.#until(taskId, "input_required");
    if (state === "working") await pause(30);
    if (state === "input given")
      await this.#ask("tasks/update", { taskId, inputResponses: { go: { action: "accept" } } });
    if (state === "cancelling") await this.#ask("tasks/cancel", { taskId });
    if (state === "completed, not fetched") while (this.#keysOf(id).length === 0) await pause(2);
    return taskId;
  }

  /** Asks the process that came after for the end of a task, and checks it. */
  async #check(state: State, id: string, taskId: string): Promise<void> {
    if (state === "input required") {
      await this.#until(taskId, "input_required");
      await this.#ask("tasks/update", { taskId, inputResponses: { go: { action: "accept" } } });
    }
    const { status, result } = await this.#until(taskId, "completed", "failed", "cancelled");
    const keys = this.#keysOf(id).length;
    const [text] = result?.content ?? [];
    const isDone = status === "completed" && text?.text === `did ${id}` && keys === 1;
    const isCancelled = state === "cancelling" && status === "cancelled" && keys <= 1;
    if (!isDone && !isCancelled) this.wrong.push(`${state}: ${status} ${text?.text ?? ""}, ${keys} in the ledger`);
  }

  async run(kills: number): Promise<void> {
    writeFileSync(this.#ledger, "");
    this.#server = await start(this.#file, this.#ledger);
    for (let n = 0; n < kills; n++) {
      const state = states[n % states.length] as State;
      const id = `task-${n}`;
      const taskId = await this.#reach(state, id);
      await kill(this.#server);
      this.#server = await start(this.#file, this.#ledger);
      await this.#check(state, id, taskId).catch((thrown: unknown) => this.wrong.push(`${state}: ${String(thrown)}`));
    }
  }

  async end(): Promise<void> {
    if (this.#server !== undefined) await kill(this.#server);
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** Kills a server so many times. */
export const runKills = async (kills: number): Promise<KillReport> => {
  const matrix = new Matrix();
  try {
    await matrix.run(kills);
  } finally {
    await matrix.end();
  }
  return { kills, wrong: matrix.wrong };
};

/** The engine of a scene as its page has it: a worker that can be killed, and lines that come whatever becomes of it. */
import type { Source } from "@pawl/inspector";
import type { Endpoint } from "../agent/endpoint.ts";
import { headerOf } from "../engine/header.ts";
import type { FromEngine, Line, ToEngine, Verb } from "../engine/message.ts";
import type { SceneId } from "../engine/tool.ts";
import EngineWorker from "../engine/worker.ts?worker";
import { keptIn } from "./kept.ts";
import { Pipe } from "./pipe.ts";

interface Asking {
  readonly verb: Verb;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A worker begins, which lasts as long as another tab runs the session; then it runs it itself, until it is killed. */
export type WorkerState = "begins" | "runs" | "dead";

export interface EngineEvents {
  readonly line: (line: Line) => void;
  /** What the n-th worker does, once that is another thing. */
  readonly worker: (n: number, does: WorkerState) => void;
  readonly fault: (message: string) => void;
}

export interface EngineOf {
  readonly scene: SceneId;
  readonly session: string;
  readonly endpoint: Endpoint | undefined;
}

export class EngineClient {
  readonly #of: EngineOf;
  readonly #events: EngineEvents;
  readonly #pipes: Pipe[] = [];
  readonly #text: string[];
  readonly #asking = new Map<number, Asking>();
  #worker: Worker | undefined;
  #workers = 0;
  #ids = 0;
  #seq = 0;
  #isClosed = false;
  #diedAt: number | undefined;

  constructor(of: EngineOf, events: EngineEvents) {
    this.#of = of;
    this.#events = events;
    this.#text = [headerOf(`session:${of.session}`)];
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }
  get isAlive(): boolean {
    return this.#worker !== undefined;
  }

  /** When the worker was killed, while there is no other. */
  get diedAt(): number | undefined {
    return this.#diedAt;
  }

  /** Starts a worker; what the one before was asked, and did not answer, is asked of this one. */
  start(): void {
    if (this.#worker !== undefined) return;
    this.#workers += 1;
    this.#diedAt = undefined;
    const worker = new EngineWorker();
    this.#worker = worker;
    worker.addEventListener("message", ({ data }: MessageEvent<FromEngine>) => this.#hear(data));
    worker.addEventListener("error", (event) => this.#events.fault(event.message));
    this.#say({ type: "open", ...this.#of, after: this.#seq, worker: `worker ${this.#workers}` });
    for (const [id, { verb }] of this.#asking) this.#say({ type: "ask", id, verb });
    this.#events.worker(this.#workers, "begins");
  }

  /** Ends the worker where it stands: nothing in it is asked, told, or waited for. */
  kill(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#diedAt = Date.now();
    this.#events.worker(this.#workers, "dead");
  }

  ask(verb: Verb): Promise<unknown> {
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve, reject) => {
      this.#asking.set(id, { verb, resolve, reject });
      this.#say({ type: "ask", id, verb });
    });
  }

  #say(message: ToEngine): void {
    this.#worker?.postMessage(message, []);
  }

  #hear(message: FromEngine): void {
    switch (message.type) {
      case "writing":
        return this.#events.worker(this.#workers, "runs");
      case "fault":
        return this.#events.fault(message.message);
      case "lines":
        for (const line of message.lines) this.#take(line);
        return;
      case "answer":
      case "failed": {
        const asking = this.#asking.get(message.id);
        this.#asking.delete(message.id);
        if (message.type === "answer") asking?.resolve(message.value);
        else asking?.reject(new Error(message.message));
      }
    }
  }

  #take(line: Line): void {
    if (line.seq !== this.#seq + 1) return;
    this.#seq = line.seq;
    this.#text.push(line.line);
    for (const pipe of this.#pipes) pipe.push(line.line);
    this.#events.line(line);
  }

  /** The log so far, and on as it grows. */
  source(): Source {
    const pipe = new Pipe();
    pipe.push(this.#text.join(""));
    this.#pipes.push(pipe);
    return { name: `session:${this.#of.session}`, text: pipe, blobs: keptIn(this.#of.scene) };
  }

  close(): void {
    this.#isClosed = true;
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const pipe of this.#pipes) pipe.end();
    for (const { reject } of this.#asking.values()) reject(new Error("the scene was left"));
    this.#asking.clear();
  }
}

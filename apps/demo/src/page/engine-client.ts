/** The page's client of a scene's engine: a worker that can be killed and restarted. Open questions survive the restart. */
import type { Source } from "@pawl/inspector";
import type { TurnFrame } from "@pawl/runtime/driver";
import type { Endpoint } from "../agent/endpoint.ts";
import { type FromEngine, type Line, type ToEngine, type Verb, headerOf } from "../engine/message.ts";
import type { SceneId } from "../engine/tool.ts";
import EngineWorker from "../engine/worker.ts?worker";
import { LogFeed, blobsOf } from "./log-feed.ts";

interface PendingVerb {
  readonly verb: Verb;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A worker `begins`, and waits while another tab runs the session; then it `runs` it, until it is `dead`. */
export type WorkerState = "begins" | "runs" | "dead";

export interface EngineEvents {
  readonly line: (line: Line) => void;
  /** Called when the state of the n-th worker changes. */
  readonly worker: (n: number, does: WorkerState) => void;
  /** Called with what a model says, before it is on record. */
  readonly said?: (frame: TurnFrame) => void;
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
  readonly #feeds: LogFeed[] = [];
  readonly #text: string[];
  readonly #pending = new Map<number, PendingVerb>();
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

  /** The time when the worker was killed; undefined once the next one runs. */
  get diedAt(): number | undefined {
    return this.#diedAt;
  }

  /** Starts a worker, and sends it the questions that the last one did not answer. */
  start(): void {
    if (this.#worker !== undefined) return;
    this.#workers += 1;
    this.#diedAt = undefined;
    const worker = new EngineWorker();
    this.#worker = worker;
    worker.addEventListener("message", ({ data }: MessageEvent<FromEngine>) => this.#receive(data));
    worker.addEventListener("error", (event) => this.#events.fault(event.message));
    this.#send({ type: "open", ...this.#of, after: this.#seq, worker: `worker ${this.#workers}` });
    for (const [id, { verb }] of this.#pending) this.#send({ type: "ask", id, verb });
    this.#events.worker(this.#workers, "begins");
  }

  /** Terminates the worker at once, without any notice. */
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
      this.#pending.set(id, { verb, resolve, reject });
      this.#send({ type: "ask", id, verb });
    });
  }

  #send(message: ToEngine): void {
    this.#worker?.postMessage(message, []);
  }

  #receive(message: FromEngine): void {
    switch (message.type) {
      case "writing":
        return this.#events.worker(this.#workers, "runs");
      case "said":
        return this.#events.said?.(message.frame);
      case "fault":
        return this.#events.fault(message.message);
      case "lines":
        for (const line of message.lines) this.#take(line);
        return;
      case "answer":
      case "failed": {
        const pending = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (message.type === "answer") pending?.resolve(message.value);
        else pending?.reject(new Error(message.message));
      }
    }
  }

  #take(line: Line): void {
    if (line.seq !== this.#seq + 1) return;
    this.#seq = line.seq;
    this.#text.push(line.line);
    for (const feed of this.#feeds) feed.push(line.line);
    this.#events.line(line);
  }

  /** The log so far. */
  get log(): string {
    return this.#text.join("");
  }

  /** Returns the log so far, and the events to come. */
  source(): Source {
    const feed = new LogFeed();
    feed.push(this.log);
    this.#feeds.push(feed);
    return { name: `session:${this.#of.session}`, text: feed, blobs: blobsOf(this.#of.scene) };
  }

  close(): void {
    this.#isClosed = true;
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const feed of this.#feeds) feed.end();
    for (const { reject } of this.#pending.values()) reject(new Error("the scene was left"));
    this.#pending.clear();
  }
}

/** The page's proxy of the service that processes logs. The service runs in a worker, or in the page's own thread. */
import { messageTurn } from "@pawl/runtime/driver";
import { LogService } from "./log-service.ts";
import type { AnswerTo, FromWorker, LogUpdate, Question, QuestionType, Questions, Side, ToWorker } from "./message.ts";

interface Pending {
  readonly resolve: (answer: AnswerTo<QuestionType>) => void;
  readonly reject: (error: Error) => void;
}

export class LogWorker {
  readonly #send: (message: ToWorker) => void;
  readonly #stop: () => void;
  readonly #updated: (side: Side, update: LogUpdate) => void;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** Without a worker the service runs in the page's own thread. */
  constructor(worker: Worker | undefined, updated: (side: Side, update: LogUpdate) => void) {
    this.#updated = updated;
    if (worker === undefined) {
      const service = new LogService((message) => messageTurn(() => this.#receive(message)), messageTurn);
      this.#send = (message) => service.receive(message);
      this.#stop = () => undefined;
    } else {
      worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.#receive(data));
      this.#send = (message) => worker.postMessage(message, []);
      this.#stop = () => worker.terminate();
    }
  }

  #receive(message: FromWorker): void {
    if (message.type === "update") return this.#updated(message.side, message.update);
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.type === "answer") pending?.resolve(message.answer);
    else pending?.reject(new Error(message.message));
  }

  feed(side: Side, text: string): void {
    this.#send({ type: "feed", side, text });
  }
  end(side: Side): void {
    this.#send({ type: "end", side });
  }
  clear(side: Side): void {
    this.#send({ type: "clear", side });
  }

  ask<T extends QuestionType>(type: T, of: Questions[T]["ask"]): Promise<AnswerTo<T>> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: (answer) => resolve(answer as AnswerTo<T>), reject });
      this.#send({ type: "ask", id, question: { type, ...of } as Question });
    });
  }

  close(): void {
    this.#stop();
    for (const { reject } of this.#pending.values()) reject(new Error("another log was opened"));
    this.#pending.clear();
  }
}

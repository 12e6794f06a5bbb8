/** A desk as the page sees it, whether it stands in a worker or in the page's own thread. */
import { messageTurn } from "@pawl/runtime";
import type { AnswerTo, FromDesk, News, Question, QuestionType, Questions, Side, ToDesk } from "./message.ts";
import { DeskWork } from "./log-service.ts";

interface Asking {
  readonly resolve: (answer: AnswerTo<QuestionType>) => void;
  readonly reject: (error: Error) => void;
}

export class Desk {
  readonly #say: (message: ToDesk) => void;
  readonly #stop: () => void;
  readonly #news: (side: Side, news: News) => void;
  readonly #asking = new Map<number, Asking>();
  #ids = 0;

  /** Without a worker the page's own thread does the work. */
  constructor(worker: Worker | undefined, news: (side: Side, news: News) => void) {
    this.#news = news;
    if (worker === undefined) {
      const work = new DeskWork((message) => messageTurn(() => this.#hear(message)), messageTurn);
      this.#say = (message) => work.hear(message);
      this.#stop = () => undefined;
    } else {
      worker.addEventListener("message", ({ data }: MessageEvent<FromDesk>) => this.#hear(data));
      this.#say = (message) => worker.postMessage(message, []);
      this.#stop = () => worker.terminate();
    }
  }

  #hear(message: FromDesk): void {
    if (message.type === "news") return this.#news(message.side, message.news);
    const asking = this.#asking.get(message.id);
    this.#asking.delete(message.id);
    if (message.type === "answer") asking?.resolve(message.answer);
    else asking?.reject(new Error(message.message));
  }

  feed(side: Side, text: string): void {
    this.#say({ type: "feed", side, text });
  }
  end(side: Side): void {
    this.#say({ type: "end", side });
  }
  clear(side: Side): void {
    this.#say({ type: "clear", side });
  }

  ask<T extends QuestionType>(type: T, of: Questions[T]["ask"]): Promise<AnswerTo<T>> {
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve, reject) => {
      this.#asking.set(id, { resolve: (answer) => resolve(answer as AnswerTo<T>), reject });
      this.#say({ type: "ask", id, question: { type, ...of } as Question });
    });
  }

  close(): void {
    this.#stop();
    for (const { reject } of this.#asking.values()) reject(new Error("the desk was closed"));
    this.#asking.clear();
  }
}

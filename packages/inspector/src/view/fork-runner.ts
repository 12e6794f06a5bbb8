/** The fork beside the log: it is created, continued by its record or an engine, and left again. */
import { type BlobReader, namesIn, packNamed } from "@pawl/runtime/driver";
import type { LogWorker } from "../worker/log-worker.ts";
import type { ForkedLog } from "../worker/message.ts";
import type { Engine } from "../source/engine.ts";
import type { ForkRequest } from "./pane/fork-pane.ts";
import type { LogView } from "./log-view.ts";

export interface ForkRunnerPort {
  readonly engine: () => Engine | undefined;
  /** Reads the large values that the log names. */
  readonly blobs: BlobReader | undefined;
  readonly say: (words: string, isError?: boolean) => void;
  readonly changed: () => void;
}

const leftWords = (left: readonly number[]): string => {
  if (left.length === 0) return "Everything that was recorded after it still fits.";
  const some = left.slice(0, 8).join(", ");
  return `Left out, because they no longer fit: ${left.length === 1 ? "event" : "events"} ${some}${left.length > 8 ? " and more" : ""}.`;
};

const missingWords = (at: number, missing: number): string => {
  const what = missing === 1 ? "one large value is" : `${missing} large values are`;
  return `The fork continues from event ${at}, but ${what} missing: a tool that needs it will not go on.`;
};

const lackingWords = (tools: readonly string[]): string => {
  const names = tools.map((name) => `\`${name}\``).join(", ");
  return `The fork stands still: this page lacks the ${tools.length === 1 ? "tool" : "tools"} ${names}. Give it to \`engineOf({ tools })\`.`;
};

export class ForkRunner {
  readonly #worker: LogWorker;
  readonly #fork: LogView;
  readonly #port: ForkRunnerPort;
  #running: AbortController | undefined;
  #isOpen = false;

  constructor(worker: LogWorker, fork: LogView, port: ForkRunnerPort) {
    this.#worker = worker;
    this.#fork = fork;
    this.#port = port;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  fork(request: ForkRequest): void {
    void this.#make(request).catch((thrown: unknown) => this.#port.say(String(thrown), true));
  }

  async #make({ seq, edited, by }: ForkRequest): Promise<void> {
    this.#end();
    this.#fork.clear();
    const of = { seq, ...(edited !== undefined && { edited }), fromRecord: by === "record" };
    const forked = await this.#worker.ask("fork", of);
    this.#isOpen = forked.type !== "refused";
    this.#port.changed();
    switch (forked.type) {
      case "refused":
        return this.#port.say(`${forked.code}: ${forked.message}`, true);
      case "continued":
        return this.#port.say(`The fork is shown below the timeline. ${leftWords(forked.left)}`);
      case "forked":
        return this.#runOn(forked.log);
    }
  }

  async #runOn(log: ForkedLog): Promise<void> {
    const engine = this.#port.engine();
    if (engine === undefined) return this.#port.say("This page has no engine to continue the fork.", true);
    const running = new AbortController();
    this.#running = running;
    this.#port.say(`The fork continues from event ${log.at}, in a separate engine.`);
    const whole = await this.#withValues(log);
    if (running.signal.aborted) return;
    const { text, lacks = [] } = await engine(whole, running.signal);
    if (lacks.length > 0) this.#port.say(lackingWords(lacks), true);
    for await (const piece of text) {
      if (running.signal.aborted) return;
      this.#worker.feed("fork", piece);
    }
  }

  /** Adds the large values that the log names, and reports the ones that are missing. */
  async #withValues(log: ForkedLog): Promise<ForkedLog> {
    const had = new Set(log.blobs.map(({ blob }) => blob));
    const names = [...new Set(log.lines.flatMap(({ line }) => namesIn(line)))].filter((name) => !had.has(name));
    const packed = await packNamed(this.#port.blobs, log.scope, names);
    const missing = names.length - packed.length;
    if (missing > 0) this.#port.say(missingWords(log.at, missing));
    return { ...log, blobs: [...log.blobs, ...packed] };
  }

  #end(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  leave(): void {
    this.#end();
    this.#isOpen = false;
    this.#fork.clear();
    this.#worker.clear("fork");
    this.#port.say("");
    this.#port.changed();
  }
}

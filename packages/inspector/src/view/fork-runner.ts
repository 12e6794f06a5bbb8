/** A fork beside the log: asked for, run on, and left. */
import { type BlobReader, namesIn, packNamed } from "@pawl/runtime";
import type { Desk } from "../desk/desk.ts";
import type { ForkedLog } from "../desk/message.ts";
import type { Engine } from "../source/engine.ts";
import type { ForkWish } from "./pane/fork-pane.ts";
import type { LogView } from "./log-view.ts";

export interface CrossingPort {
  readonly engine: () => Engine | undefined;
  /** Where the large values are that the log names. */
  readonly blobs: BlobReader | undefined;
  readonly say: (words: string) => void;
  readonly changed: () => void;
}

const leftWords = (left: readonly number[]): string => {
  if (left.length === 0) return "All that was recorded after it fits.";
  const some = left.slice(0, 8).join(", ");
  return `Of what was recorded after it, ${left.length === 1 ? "event" : "events"} ${some}${left.length > 8 ? " and more" : ""} did not fit any more.`;
};

const missingWords = (at: number, missing: number): string => {
  const what = missing === 1 ? "one large value is" : `${missing} large values are`;
  return `The fork runs on from event ${at}, but ${what} missing: it stands still where a tool needs that.`;
};

export class Crossing {
  readonly #desk: Desk;
  readonly #fork: LogView;
  readonly #port: CrossingPort;
  #running: AbortController | undefined;
  #isOpen = false;

  constructor(desk: Desk, fork: LogView, port: CrossingPort) {
    this.#desk = desk;
    this.#fork = fork;
    this.#port = port;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  fork(wish: ForkWish): void {
    void this.#make(wish).catch((thrown: unknown) => this.#port.say(String(thrown)));
  }

  async #make({ seq, edited, by }: ForkWish): Promise<void> {
    this.#end();
    this.#fork.clear();
    const of = { seq, ...(edited !== undefined && { edited }), runOn: by === "record" };
    const forked = await this.#desk.ask("fork", of);
    this.#isOpen = forked.type !== "refused";
    this.#port.changed();
    switch (forked.type) {
      case "refused":
        return this.#port.say(`${forked.code}: ${forked.message}`);
      case "ran_on":
        return this.#port.say(`The fork stands below the timeline. ${leftWords(forked.left)}`);
      case "forked":
        return this.#runOn(forked.log);
    }
  }

  async #runOn(log: ForkedLog): Promise<void> {
    const engine = this.#port.engine();
    if (engine === undefined) return this.#port.say("There is no engine here to run it on.");
    const running = new AbortController();
    this.#running = running;
    this.#port.say(`The fork runs on from event ${log.at}, in an engine of its own.`);
    const whole = await this.#withValues(log);
    if (running.signal.aborted) return;
    const { text } = await engine(whole, running.signal);
    for await (const piece of text) {
      if (running.signal.aborted) return;
      this.#desk.feed("fork", piece);
    }
  }

  /** The log with the large values that it names; what can not be had is said. */
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
    this.#desk.clear("fork");
    this.#port.say("");
    this.#port.changed();
  }
}

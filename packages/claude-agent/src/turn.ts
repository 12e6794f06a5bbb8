/** The latest turn of a transcript: how far it has come, and what it waits for. */
import { type Json, isObject } from "@pawl/tool-value";
import type { Entry } from "./transcript.ts";

export interface Block {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
}

const blocksOf = ({ message }: Entry): readonly Block[] => {
  const content = isObject(message as Json) ? (message as { readonly content?: unknown }).content : undefined;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as readonly Block[]) : [];
};

/** Says whether the model has no more to say after an entry. */
export const endsTurn = ({ type, message }: Entry): boolean =>
  type === "assistant" && (message as { readonly stop_reason?: unknown }).stop_reason !== "tool_use";

const isMessage = ({ type }: Entry): boolean => type === "user" || type === "assistant";
/** Lists the calls of tools in an entry. */
export const uses = (entry: Entry): readonly Block[] => blocksOf(entry).filter(({ type }) => type === "tool_use");

export class LatestTurn {
  readonly #messages: readonly Entry[];

  constructor(entries: readonly Entry[]) {
    this.#messages = entries.filter(isMessage);
  }

  /** True where the model has more to say. */
  get isUnderWay(): boolean {
    return this.last !== undefined && !endsTurn(this.last);
  }

  /** True where it began with a text. */
  beganWith(text: string): boolean {
    const prompts = this.#messages.filter((one) => one.type === "user" && one["isMeta"] !== true);
    const texts = prompts.map((one) => blocksOf(one).find((block) => block.type === "text")?.text);
    return texts.findLast((one) => one !== undefined) === text;
  }

  /** Lists the calls whose results are missing, with the entry of each. */
  get open(): readonly { readonly use: Block; readonly entry: Entry }[] {
    const done = new Set(this.#messages.flatMap(blocksOf).map(({ tool_use_id: id }) => id));
    return this.#messages.flatMap((entry) =>
      uses(entry)
        .filter(({ id }) => !done.has(id))
        .map((use) => ({ use, entry })),
    );
  }

  get last(): Entry | undefined {
    return this.#messages.at(-1);
  }
}

/** The recorded part of a transcript: its calls of tools, and the end of its turn. */
export class Written {
  readonly #uses = new Map<string, PromiseWithResolvers<void>>();
  readonly #over = Promise.withResolvers<void>();

  #use(id: string): PromiseWithResolvers<void> {
    const found = this.#uses.get(id) ?? Promise.withResolvers<void>();
    this.#uses.set(id, found);
    return found;
  }

  note(entries: readonly Entry[]): void {
    for (const { id = "" } of entries.flatMap(uses)) this.#use(id).resolve();
    if (entries.some(endsTurn)) this.#over.resolve();
  }

  /** Resolves once a call is on record, with the answer that asked for it: done before, it might be asked for again. */
  use(id: string): Promise<void> {
    return this.#use(id).promise;
  }

  /** Resolves once the turn is over. */
  get over(): Promise<void> {
    return this.#over.promise;
  }
}

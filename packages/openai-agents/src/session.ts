/**
 * `DurableSession`: the history of a conversation, in the store of the session (`ctx.store`). Each write is on record once,
 * however often the body runs. A write of several items is seen whole or not at all: they are written under keys of their own
 * first, and then the one key that names them.
 */
import type { AgentInputItem, Session } from "@openai/agents";
import type { Json } from "@pawl/tool-value";
import type { Effects } from "./name.ts";

/** The items of each key, in their order. A value of the store has a bound, and so has a key's list. */
interface Head {
  readonly next: number;
  readonly groups: readonly number[];
}
const empty: Head = { next: 0, groups: [] };

/** Characters of JSON that a group holds: a value of the store holds 32,768. */
const mostChars = 30_000;

const inGroups = (items: readonly AgentInputItem[]): readonly (readonly AgentInputItem[])[] => {
  const groups: AgentInputItem[][] = [];
  let chars = Infinity;
  for (const item of items) {
    const { length } = JSON.stringify(item);
    if (chars + length > mostChars) {
      groups.push([]);
      chars = 0;
    }
    groups.at(-1)?.push(item);
    chars += length + 1;
  }
  return groups;
};

/** Keeps the history of a conversation in the store of a session, as the SDK's runner asks for it. */
export class DurableSession implements Session {
  readonly #store: Effects["store"];
  readonly #id: string;

  /** `id` tells conversations of one session apart. */
  constructor(ctx: Pick<Effects, "store">, id = "openai-agents") {
    this.#store = ctx.store;
    this.#id = id;
  }

  async getSessionId(): Promise<string> {
    return this.#id;
  }

  async #head(): Promise<Head> {
    return ((await this.#store.get(this.#id)) as unknown as Head | undefined) ?? empty;
  }

  async #group(number: number): Promise<AgentInputItem[]> {
    return ((await this.#store.get(`${this.#id}/${number}`)) as unknown as AgentInputItem[] | undefined) ?? [];
  }

  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const { groups } = await this.#head();
    const items: AgentInputItem[] = [];
    for (const group of groups.toReversed()) {
      if (limit !== undefined && items.length >= limit) break;
      items.unshift(...(await this.#group(group)));
    }
    return limit === undefined ? items : items.slice(Math.max(0, items.length - limit));
  }

  /** Writes groups, and then the head that names them. */
  async #write(head: Head, groups: readonly (readonly AgentInputItem[])[], dropped: readonly number[]): Promise<void> {
    const added = groups.map((_, i) => head.next + i);
    for (const [i, items] of groups.entries())
      await this.#store.set(`${this.#id}/${added[i]}`, JSON.parse(JSON.stringify(items)) as Json);
    const kept = head.groups.filter((group) => !dropped.includes(group));
    const next: Head = { next: head.next + groups.length, groups: [...kept, ...added] };
    await this.#store.set(this.#id, next as unknown as Json);
    for (const group of dropped) await this.#store.set(`${this.#id}/${group}`, null);
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length > 0) await this.#write(await this.#head(), inGroups(items), []);
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    const head = await this.#head();
    const last = head.groups.at(-1);
    if (last === undefined) return undefined;
    const items = await this.#group(last);
    const popped = items.pop();
    await this.#write(head, items.length === 0 ? [] : [items], [last]);
    return popped;
  }

  async clearSession(): Promise<void> {
    const head = await this.#head();
    await this.#write(head, [], head.groups);
  }
}

/** Ids of calls in one prompt. Providers number them anew, repeat them or leave them blank; a prompt tells them apart. */
import type { AnswerCall } from "./message.ts";

export class PromptIds {
  readonly #used = new Set<string>();
  readonly #next = new Map<string, number>();
  /** As the calls of providers are shown, by the id that the provider gave last. */
  readonly #provider = new Map<string, string>();
  #n = 0;
  /** As the local calls of the answer are shown, in order. */
  local: string[] = [];

  /** Begins the answer of the n-th model call. */
  begin(n: number): void {
    this.#n = n;
    this.local = [];
  }

  /** The first free one of `id`, `id_2`, `id_3`, … Those below `#next` are taken, and stay so. */
  #free(id: string): string {
    let free = id;
    let i = this.#next.get(id) ?? 2;
    for (; this.#used.has(free); i++) free = `${id}_${i}`;
    if (free !== id) this.#next.set(id, i);
    this.#used.add(free);
    return free;
  }

  /** Names a call. */
  call({ id, provider }: AnswerCall): string {
    const shown = this.#free(id.trim() === "" ? `call_${this.#n}_${this.local.length}` : id);
    if (provider === true) this.#provider.set(id, shown);
    else this.local.push(shown);
    return shown;
  }

  /** The id under which the provider's own call is shown that this result is of. */
  ofProvider(id: string): string {
    return this.#provider.get(id) ?? id;
  }
}

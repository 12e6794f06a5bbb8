/**
 * Keeps secrets out of what a run says. Once a step has read a secret, its value is looked for in all that the run hands
 * out: a request that holds it is refused, and in results, errors, chunks and messages a mark stands in its place.
 *
 *    "401 for sk_live_51H…"   becomes   "401 for [secret stripe]"
 *
 * Finds a value as it is, in JSON and in an address, and no value that the program has encoded otherwise.
 *
 * This file imports no code: pages load it alone, when a step reads its first secret.
 */
import type { Json } from "@pawl/tool-value";

const formsOf = (value: string): readonly string[] => [
  ...new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]),
];

export class Redaction {
  /** The forms of all values with their names, the longest first: one value may be in another. */
  #forms: readonly (readonly [form: string, name: string])[] = [];

  add(name: string, value: string): void {
    const added = formsOf(value).map((form) => [form, name] as const);
    this.#forms = [...this.#forms, ...added].toSorted(([a], [b]) => b.length - a.length);
  }

  text(text: string): string {
    return this.#forms.reduce((shown, [form, name]) => shown.replaceAll(form, `[secret ${name}]`), text);
  }

  /** Copies plain data, with marks in the place of values. */
  data<A>(data: A): A {
    return this.#copied(data) as A;
  }

  #copied(data: unknown): unknown {
    if (typeof data === "string") return this.text(data);
    if (Array.isArray(data)) return data.map((one) => this.#copied(one));
    if (typeof data !== "object" || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
    return Object.fromEntries(Object.entries(data).map(([key, one]) => [this.text(key), this.#copied(one)]));
  }

  /** Copies what was thrown: with its class, its fields could hold the value. */
  thrown(thrown: unknown): Error {
    if (!(thrown instanceof Error)) return new Error(this.text(String(thrown)));
    const shown = new Error(this.text(thrown.message));
    return Object.assign(shown, { name: this.text(thrown.name), stack: this.text(thrown.stack ?? thrown.message) });
  }

  /** Returns why a request cannot be made. */
  problemOf(key: string, asked: Json): string | undefined {
    const text = JSON.stringify(asked);
    const found = this.#forms.find(([form]) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)));
    if (found === undefined) return undefined;
    return `what is asked for under \`${this.text(key)}\` holds secret \`${found[1]}\`, and would go on record: read the secret in the step that needs it`;
  }
}

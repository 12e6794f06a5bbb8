/** A runtime as a page has it, or as Node has it, and its time, which passes when nothing else is to do. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Event } from "@pawl/sansio-core";
import { build } from "rolldown";
import { TestPlatform, roots } from "../world.ts";
import type * as node from "./runtime.ts";

export type Api = typeof node;

/** The files that bundlers for pages make, by their names. */
export const pageFiles = async (): Promise<ReadonlyMap<string, string>> => {
  const { output } = await build({
    input: resolve(import.meta.dirname, "runtime.ts"),
    platform: "browser",
    output: { format: "esm" },
    write: false,
    logLevel: "warn",
  });
  return new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file.code] as const] : [])));
};

/** A runtime of its own, of which nothing is loaded yet but what a page starts with. */
export const freshPage = async (files: ReadonlyMap<string, string>, scratch: string): Promise<Api> => {
  const folder = mkdtempSync(join(scratch, "page-"));
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  return (await import(pathToFileURL(join(folder, "runtime.js")).href)) as Api;
};

type Logged = Event & { readonly key?: string };

export class Stage {
  readonly api: Api;
  readonly platform = new TestPlatform();
  readonly journal: node.Journal;
  readonly #loads: Promise<unknown>[] = [];
  #instances = 0;

  constructor(api: Api) {
    this.api = api;
    this.journal = api.memoryJournal({ now: this.platform.now });
    const loads = this.#loads;
    const { load } = api.Part.prototype;
    api.Part.prototype.load = function noted(this: node.Part<unknown>): Promise<unknown> {
      const loading = load.call(this);
      loads.push(loading);
      return loading;
    };
  }

  start(tools: readonly object[], more: Partial<node.RuntimeOptions> = {}): node.Runtime {
    const instance = `p${(this.#instances += 1)}`;
    const patience = { suspendMs: 1_000_000, holdMs: 1_000_000 };
    const { journal, platform } = this;
    return new this.api.Runtime({
      journal,
      platform,
      roots,
      instance,
      tools: tools as readonly node.ToolDefinition[],
      patience,
      ...more,
    });
  }

  /** Something is being loaded. */
  async loading(): Promise<void> {
    for (let i = 0; i < 1000 && this.#loads.length === 0; i++) await new Promise((after) => setImmediate(after));
  }

  /** Everything has happened that needs no time. */
  async quiet(): Promise<void> {
    for (let i = 0; i < 30; i++) await new Promise((after) => setImmediate(after));
    const loads = this.#loads.splice(0);
    await Promise.all(loads);
    if (loads.length > 0) await this.quiet();
  }

  /** Lets everything happen, and time pass, until something has come. */
  async until<A>(coming: Promise<A>): Promise<A> {
    const over = new AbortController();
    const end = (): void => over.abort();
    coming.then(end, end);
    for (let i = 0; i < 200 && !over.signal.aborted; i++) {
      await this.quiet();
      if (!over.signal.aborted) this.platform.advance(20);
    }
    if (!over.signal.aborted) throw new Error(`nothing came: ${JSON.stringify(await this.log())}`);
    await this.quiet();
    return coming;
  }

  async log(): Promise<readonly Logged[]> {
    const lines = await this.journal.read("session:s", 1);
    return lines.map(({ line }) => (JSON.parse(line) as { readonly event: Logged }).event);
  }
}

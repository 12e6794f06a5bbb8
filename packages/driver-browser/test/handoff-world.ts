/** A tab with its journal in IndexedDB and a Node host with a journal file; either dies with nothing said, and comes back. */
import { type SqliteJournal, diskAttachments, nodePlatform, sqliteJournal } from "@pawl/driver-node";
import { type AttachmentStore, type Journal, Runtime, defineTool } from "@pawl/runtime";
import { type Append, type Mover, foldLines } from "@pawl/runtime/driver";
import type { BrowserContext, Page } from "playwright-core";
import { drawing } from "./drawing.ts";
import { pageWith } from "../../../test/runtime/page.ts";

export type Place = "tab" | "host";

/** At an append that records an event of this type. */
export interface Death {
  readonly of: string;
  readonly when: "before" | "after";
}

const never = new Promise<never>(() => undefined);

export const typesOf = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => /"event":\{"type":"(?<type>[^"]+)"/.exec(line)?.groups?.["type"] ?? "");

export const stateOf = (scope: string, lines: readonly string[]) =>
  foldLines(
    scope,
    lines.map((line, i) => ({ seq: i + 1, line })),
  );

/** Says whether a copy accepts events. */
export const accepts = (scope: string, lines: readonly string[]): boolean => {
  const { epoch, status } = stateOf(scope, lines).scope;
  return epoch > 0 && status.type === "open";
};

/** A Node host over a journal file, that dies with nothing said, and comes back. */
export class NodeHost {
  #file: string;
  readonly #mover: Mover;
  readonly #outside: (what: string) => number;
  #journal: SqliteJournal;
  #life = 0;
  runtime: Runtime;

  constructor(file: string, mover: Mover, outside: (what: string) => number) {
    this.#file = file;
    this.#mover = mover;
    this.#outside = outside;
    this.#journal = sqliteJournal(file);
    this.runtime = this.#begin();
  }

  get isDead(): boolean {
    return this.#life < 0;
  }

  /** Beside its journal, as `openRuntime` has it. */
  get attachments(): AttachmentStore {
    return diskAttachments(`${this.#file}.attachments`);
  }

  #begin(death?: Death): Runtime {
    this.#life = Math.abs(this.#life) + 1;
    const worker = defineTool({
      name: "worker",
      durable: true,
      execute: async (_, ctx) => {
        const first = await ctx.run("first", () => this.#outside("first"));
        await ctx.waitFor("go");
        return [first, await ctx.run("second", () => this.#outside("second"))];
      },
    });
    return new Runtime({
      journal: this.#mortal(this.#life, death),
      platform: nodePlatform,
      tools: [worker, drawing],
      host: { attachments: this.attachments },
      instance: `node${this.#life}`,
      roots: { newest: { kid: "node", secret: new Uint8Array(32).fill(3) } },
      mover: () => this.#mover,
    });
  }

  kill(): void {
    this.#life = -Math.abs(this.#life);
  }

  async start(death?: Death): Promise<void> {
    this.kill();
    await this.#journal.close();
    this.#journal = sqliteJournal(this.#file);
    this.runtime = this.#begin(death);
  }

  async clear(): Promise<void> {
    this.#file += "+";
    await this.start();
  }

  /** Drops what a life does after its death. */
  #mortal(life: number, death: Death | undefined): Journal {
    const journal = this.#journal;
    const around = async <A>(appends: readonly Pick<Append, "lines">[], work: () => Promise<A>): Promise<A> => {
      if (this.#life !== life) return never;
      const isMeant = appends.some(({ lines }) => typesOf(lines.map(({ line }) => line)).includes(death?.of ?? "none"));
      if (isMeant && death?.when === "before") this.kill();
      if (this.#life !== life) return never;
      const result = await work();
      if (isMeant) this.kill();
      return this.#life === life ? result : never;
    };
    const { moves } = journal;
    if (moves === undefined) throw new Error("a journal file lets scopes move");
    return {
      ...journal,
      claim: (...of) => around([], () => journal.claim(...of)),
      appendAll: (appends) => around(appends, () => journal.appendAll(appends)),
      moves: {
        ...moves,
        adopt: (adoption) => around([adoption], () => moves.adopt(adoption)),
        decline: (...of) => around([], () => moves.decline(...of)),
        ended: (...of) => around([], () => moves.ended(...of)),
      },
    };
  }

  /** Leaves whoever asks a dead one without an answer. */
  arrivals(): Mover {
    if (this.isDead) throw new Error("the host is not there");
    return this.runtime.moves.arrivals;
  }

  async lines(scope: string): Promise<readonly string[]> {
    return (await this.#journal.read(scope, 1)).map(({ line }) => line);
  }

  async close(): Promise<void> {
    this.kill();
    await this.#journal.close();
  }
}

/** The script of the page `handoff`, in a tab of this context. */
export class HandoffWorld {
  readonly #context: BrowserContext;
  readonly #code: string;
  #page: Page | undefined;
  #database = "tab1";
  readonly host: NodeHost;
  /** How often work was done outside. */
  readonly counts: { [what: string]: number } = {};

  constructor(context: BrowserContext, code: string, file: string) {
    this.#context = context;
    this.#code = code;
    const toTab: Mover = {
      send: (part) => this.inTab("send", part),
      decline: (scope, nonce) => this.inTab("decline", scope, nonce),
    };
    this.host = new NodeHost(file, toTab, (what) => this.#work(what));
  }

  #work(what: string): number {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    return this.counts[what];
  }

  get isTabDead(): boolean {
    return this.#page?.isClosed() ?? true;
  }

  /** Calls what the page exports. */
  readonly inTab = async <A>(name: string, ...of: readonly unknown[]): Promise<A> => {
    if (this.#page === undefined || this.isTabDead) throw new Error("the tab is not there");
    return this.#page.evaluate(`suite.${name}(${of.map((one) => JSON.stringify(one)).join(", ")})`);
  };

  async startTab(death?: Death): Promise<void> {
    await this.killTab();
    const { host } = this;
    this.#page = await pageWith(this.#context, this.#code, {
      hostSend: (...of: Parameters<Mover["send"]>) => host.arrivals().send(...of),
      hostDecline: (...of: Parameters<Mover["decline"]>) => host.arrivals().decline(...of),
      outside: (what: string) => this.#work(what),
      die: () => this.killTab().then(() => never),
    });
    await this.inTab("start", this.#database, ...(death === undefined ? [] : [death]));
  }

  /** Both begin anew, with empty stores. */
  async clear(): Promise<void> {
    this.#database = `tab${Number(this.#database.slice(3)) + 1}`;
    await this.inTab("stop");
    await this.inTab("start", this.#database);
    await this.host.clear();
  }

  async killTab(): Promise<void> {
    if (!this.isTabDead) await this.#page?.close({ runBeforeUnload: false });
  }

  isDead(place: Place): boolean {
    return place === "tab" ? this.isTabDead : this.host.isDead;
  }

  async kill(place: Place): Promise<void> {
    if (place === "tab") await this.killTab();
    else this.host.kill();
  }

  /** Begins a new life over what the last one left. */
  start(place: Place, death?: Death): Promise<void> {
    return place === "tab" ? this.startTab(death) : this.host.start(death);
  }

  /** Moves the session from here to the other one. */
  async move(from: Place): Promise<void> {
    if (from === "host") return this.host.runtime.move("session:s", "tab", { withinMs: 10_000 });
    const moved = await this.inTab("move", "session:s");
    if (moved !== "moved") throw new Error(String(moved));
  }

  /** Goes on with what is due there. */
  async recover(place: Place): Promise<void> {
    if (place === "tab") await this.inTab("recover");
    else await this.host.runtime.recover();
  }

  /** Asks for the session, wherever that leads. */
  async goOn(place: Place): Promise<void> {
    if (place === "tab") await this.inTab("goOn");
    else await this.host.runtime.session("s").catch(() => undefined); // It may be on its way, or there.
  }

  async keep(place: Place): Promise<void> {
    if (place === "tab") await this.inTab("keep");
    else await this.host.runtime.moves.keep("session:s").catch(() => undefined); // It may be there.
  }

  async resolve(place: Place, token: string): Promise<unknown> {
    if (place === "tab") return this.inTab("resolve", token);
    return (await this.host.runtime.session("s")).resolve(token, { status: "ok", payload: "x" });
  }

  async outcome(place: Place, request: string): Promise<unknown> {
    if (place === "tab") return this.inTab("outcome", request);
    return (await (await this.host.runtime.session("s")).replies(request))[0]?.output.outcome;
  }

  /** Looks again and again until it holds; the test's own time is the limit. */
  async until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async close(): Promise<void> {
    await this.#context.close();
    await this.host.close();
  }
}

/**
 * A conversation whose server is killed: by SIGKILL, in the moments that are given, and started again each time. Whoever
 * talks to it goes on as a page does: asks for what is under way, and decides on what is asked.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { Chat } from "../page.ts";
import { type Api, type Ledger, type Moment, Services } from "./model-server.ts";

export type KillAt = Moment | "approval";

export interface Life {
  readonly api: Api;
  readonly isStreamed: boolean;
  /** The program of the server, in place of that of this package; and what it is told besides. */
  readonly program?: string;
  readonly more?: readonly string[];
  /** Moments in which the server is killed, once each. */
  readonly kills: readonly KillAt[];
}

export interface Lived {
  readonly text: string;
  readonly ledger: Ledger;
  readonly killed: readonly KillAt[];
}

/** The server, in its process of the moment. */
class Host {
  readonly #program: string;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  #port = Promise.withResolvers<number>();
  #isUp = false;
  #isOver = false;
  #killing: Promise<void> | undefined;

  constructor(program: string, args: readonly string[]) {
    this.#program = program;
    this.#args = args;
  }

  start(): void {
    const child = fork(this.#program, this.#args, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child = child;
    child.once("message", (port) => {
      if (child.killed) return;
      this.#isUp = true;
      this.#port.resolve(port as number);
    });
  }

  /** Kills the process, and starts the next one. Moments that lie close are one kill: two servers would share a journal. */
  async kill({ isLast = false } = {}): Promise<void> {
    this.#isOver ||= isLast;
    this.#killing ??= this.#killOnce().finally(() => (this.#killing = undefined));
    await this.#killing;
    if (isLast) await this.#ended(); // It may have been started just before.
  }

  async #ended(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async #killOnce(): Promise<void> {
    if (this.#isUp) this.#port = Promise.withResolvers(); // Else somebody waits for it already.
    this.#isUp = false;
    await this.#ended();
    if (!this.#isOver) this.start();
  }

  readonly fetch: typeof globalThis.fetch = async (path, init) =>
    fetch(new URL(String(path), `http://127.0.0.1:${await this.#port.promise}`), init);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));

type Approving = () => Promise<void>;

/** Talks as a page does, until the turn is over. */
const talk = async (host: Host, approving: Approving): Promise<string> => {
  const transport = new DefaultChatTransport({ fetch: host.fetch });
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
  const page = new Chat({ id: "c1", transport, sendAutomaticallyWhen });
  await page.sendMessage({ text: "Refund A1" });
  for (;;) {
    const parts = page.messages.at(-1)?.parts ?? [];
    const asked = parts.find((part) => "state" in part && part.state === "approval-requested");
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (page.status === "streaming" || page.status === "submitted") await pause();
    else if (page.status === "error") {
      page.clearError();
      // A page whose message did not arrive posts it again; else it asks for what is under way.
      if (page.messages.at(-1)?.role === "user") await page.regenerate();
      else await page.resumeStream();
    } else if (asked !== undefined && "approval" in asked && asked.approval !== undefined) {
      await approving();
      await page.addToolApprovalResponse({ id: asked.approval.id, approved: true });
      await pause();
    } else if (text.endsWith("done.")) return text;
    else {
      await pause();
      await page.resumeStream();
    }
  }
};

/** Asks for a whole answer, again and again until it is there, and approves what is asked meanwhile. */
const askFor = async (host: Host, approving: Approving): Promise<string> => {
  const get = async (path: string): Promise<unknown> => {
    try {
      const response = await host.fetch(path);
      return response.ok ? await response.json() : undefined;
    } catch {
      return undefined; // It was killed.
    }
  };
  const said: string[] = [];
  const asking = async (): Promise<void> => {
    while (said.length === 0) {
      const text = await get("/ask");
      if (typeof text === "string") said.push(text);
      else await pause();
    }
  };
  const deciding = async (): Promise<void> => {
    while (said.length === 0) {
      if (((await get("/approvals")) ?? 0) !== 0) {
        await approving();
        await get("/approve");
      }
      await pause();
    }
  };
  await Promise.all([asking(), deciding()]);
  return said.join("");
};

const programHere = join(import.meta.dirname, "host.ts");

export const live = async ({ api, isStreamed, kills, program = programHere, more = [] }: Life): Promise<Lived> => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-sdk-kill-"));
  const left = new Set<KillAt>(kills);
  const killed: KillAt[] = [];
  let host: Host | undefined;
  const at = async (moment: KillAt): Promise<void> => {
    if (!left.delete(moment)) return;
    killed.push(moment);
    await host?.kill();
  };
  const services = await Services.open(at);
  host = new Host(program, [join(folder, "journal.db"), api, services.url, ...more]);
  host.start();
  try {
    const text = await (isStreamed ? talk : askFor)(host, () => at("approval"));
    return { text, ledger: services.ledger, killed };
  } finally {
    await host.kill({ isLast: true });
    await services.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Lists the moments that did not come. The end of the last answer may come after the end of the conversation. */
export const missedBy = ({ killed }: Lived, { kills }: Pick<Life, "kills">): readonly KillAt[] =>
  kills.filter((moment) => !killed.includes(moment) && moment !== "after answer 3");

const moments: readonly KillAt[] = [
  ...([1, 2, 3] as const).flatMap((n) =>
    (["before", "in", "after"] as const).map((when) => `${when} answer ${n}` as const),
  ),
  ...([1, 2] as const).flatMap((n) => (["before", "after"] as const).map((when) => `${when} effect ${n}` as const)),
  "approval",
];

/** Chooses by a number: the same for the same number. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1);
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  one<A>(of: readonly [A, ...A[]]): A {
    return of[this.below(of.length)] ?? of[0];
  }

  kills(): readonly KillAt[] {
    const kills = Array.from({ length: 1 + this.below(3) }, () => moments[this.below(moments.length)] as KillAt);
    return [...new Set(kills)];
  }
}

const wasUnderWay = (moment: KillAt, number: number): boolean =>
  moment === `before answer ${number}` || moment === `in answer ${number}`;

/** Says what does not hold of a life: each answer on record was asked for once, each effect was done once, and the text is whole. */
export const problemsOf = ({ ledger, killed, text }: Lived, wanted: string): readonly string[] => {
  const asked = ledger.asked.flatMap((count, i) => {
    const least = 1 + killed.filter((moment) => wasUnderWay(moment, i + 1)).length;
    // After its end an answer may not have been on record yet.
    const most = least + (killed.includes(`after answer ${(i + 1) as 1}`) ? 1 : 0);
    return count >= least && count <= most
      ? []
      : [`answer ${i + 1} was asked for ${count} times, expected ${least} to ${most}`];
  });
  const keys = [...ledger.effects.keys()].toSorted();
  const effects = JSON.stringify(keys) === '["call_1","call_2"]' ? [] : [`effects: ${keys.join()}`];
  const repeated = [...ledger.effects].flatMap(([key, count], i) => {
    // Asked for right behind its answer, and not on record yet: it is asked for again. What counts is that the service knows the key.
    const most =
      1 + killed.filter((moment) => moment.endsWith(`effect ${i + 1}`) || moment === `after answer ${i + 1}`).length;
    return count <= most ? [] : [`effect ${key} was asked for ${count} times, expected ${most} at most`];
  });
  const said = text === wanted ? [] : [`the message is ${JSON.stringify(text)}`];
  return [...asked, ...effects, ...repeated, ...said];
};

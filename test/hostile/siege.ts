/**
 * A host in a process of its own, an honest client that calls it all the time, and the counts of what is tried against it.
 * The honest client's answers must be right and come soon; what it was told must be in the journal at the end.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Claims, signToken } from "@pawl/driver-node";
import { Client } from "@pawl/driver-node/client";
import { Effects } from "../../packages/driver-node/test/kill/effects.ts";
import { Life } from "../../packages/driver-node/test/kill/life.ts";
import { type Order, hostSecret } from "../../packages/driver-node/test/kill/order.ts";
import { Random } from "../../packages/driver-node/test/kill/random.ts";
import { clockFile } from "./fake-clock.ts";
import type { VictimOrder } from "./order.ts";

const everything: Claims = {
  by: "ann",
  scopes: [""],
  rights: ["call", "resolve", "approve", "observe", "execute", "move"],
  expires_at: 4_000_000_000_000,
};

export const tokenOf = (claims: Partial<Claims> = {}): string => signToken([hostSecret], { ...everything, ...claims });

const victim = join(import.meta.dirname, "victim.ts");

/** The longest that the honest client may wait, without the time that the machine gave to others. */
const mostWaitMs = Number(process.env["PAWL_HOSTILE_MS"] ?? 5000);

/** A host that has no core for so long is not looked at any longer. */
const mostStarvedMs = 120_000;

/** Milliseconds that the main thread of a process was ready to run and had no core. Only Linux counts that. */
const starvedMs = (pid: number | undefined): number => {
  const file = `/proc/${pid}/schedstat`;
  return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[1]) / 1e6 : 0;
};

export class Siege {
  readonly random: Random;
  readonly folder: string;
  tried = 0;
  readonly wrong: string[] = [];
  longestWaitMs = 0;
  /** The values that the honest client was told are done. */
  readonly #done: number[] = [];
  #life: Life | undefined;
  #url = "";
  #instances = 0;
  readonly #clients: Client[] = [];
  #errorsSeen = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.folder = mkdtempSync(join(tmpdir(), "pawl-hostile-"));
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number | undefined {
    return this.#life?.pid;
  }

  /** Starts the host, or the next one over the same files. */
  async start(more: Partial<VictimOrder> & { readonly aheadMs?: number } = {}): Promise<void> {
    const life = new Life(["--expose-gc", "--max-old-space-size=512"], victim);
    this.#life = life;
    const { aheadMs = 0, ...rest } = more;
    this.setClock(aheadMs);
    const order: VictimOrder = { folder: this.folder, instance: `host-${(this.#instances += 1)}`, ...rest };
    this.#url = (await life.begin({ commits: "inline", ...order } as Order)) ?? "";
  }

  /** Sets the host's clock so far ahead of the machine's, also while it lives. */
  setClock(aheadMs: number): void {
    writeFileSync(join(this.folder, clockFile), String(aheadMs));
  }

  /** Kills the host, as a crash would. */
  async kill(): Promise<void> {
    this.#life?.kill();
    await this.#life?.ended;
  }

  async weight(): Promise<number> {
    return (await this.#life?.weight())?.resident ?? 0;
  }

  client(claims: Partial<Claims> = {}): Client {
    const client = new Client({ url: this.#url, token: tokenOf(claims), backoff: { minMs: 5, maxMs: 50 } });
    this.#clients.push(client);
    return client;
  }

  say(wrong: string): void {
    if (this.wrong.length < 20) this.wrong.push(wrong);
  }

  /** Counts one attempt, and what was wrong with its outcome if anything was. */
  try(wrong?: string): void {
    this.tried += 1;
    if (wrong !== undefined) this.say(wrong);
  }

  /** Runs an attack while the honest client calls. */
  async during(attack: () => Promise<void>): Promise<void> {
    const over = new AbortController();
    const calling = this.#callHonestly(over.signal);
    try {
      await attack();
      await this.#settleDown();
    } finally {
      over.abort();
      await calling;
    }
    this.#readErrors();
  }

  /** One more honest call after the attack: the host is there, and serves. */
  async #settleDown(): Promise<void> {
    const client = this.client();
    const before = this.longestWaitMs;
    await this.#call(client);
    this.longestWaitMs = Math.max(before, this.longestWaitMs);
  }

  async #callHonestly(over: AbortSignal): Promise<void> {
    const client = this.client();
    while (!over.aborted) {
      await this.#call(client);
      await pause(20);
    }
    client.close();
  }

  /** Calls once. A host that is gone does not answer: that is told when the time is over. */
  async #call(client: Client): Promise<void> {
    const value = this.#done.length + Math.floor(performance.now() * 1000) * 100;
    const asked = client
      .session("honest")
      .request(`r${value}`, [{ label: "c", tool: "count", args: { value } }])
      .then(([reply]) => {
        const { outcome } = reply?.output ?? {};
        if (outcome?.status === "success" && outcome.payload === value) this.#done.push(value);
        else this.say(`an honest call was answered ${JSON.stringify(outcome)}`);
      });
    const refused = asked.catch((thrown: unknown) => this.say(`an honest call was refused: ${String(thrown)}`));
    const ms = await this.#waitFor(refused);
    this.longestWaitMs = Math.max(this.longestWaitMs, ms);
    if (ms >= mostWaitMs) this.say(`an honest client waited ${Math.round(ms)} ms`);
  }

  /**
   * Waits as long as an honest client may. Returns for how long that was, without what others took of the machine: of the host,
   * or of this process. A host that never answers is told by the clock in the end.
   */
  async #waitFor(answered: Promise<unknown>): Promise<number> {
    const begunAt = performance.now();
    const { pid } = this;
    const before = [starvedMs(pid), starvedMs(process.pid)] as const;
    const isAnswered = answered.then(() => true);
    for (;;) {
      const isOver = await Promise.race([isAnswered, pause(mostWaitMs / 4, false, { ref: false })]);
      const all = performance.now() - begunAt;
      const starved = Math.max(starvedMs(pid) - before[0], starvedMs(process.pid) - before[1]);
      const own = Math.max(0, all - starved);
      if (isOver || own >= mostWaitMs) return own;
      if (all >= mostWaitMs + mostStarvedMs) return all;
    }
  }

  /** Takes note of what the host found to be wrong with itself. */
  #readErrors(): void {
    const file = join(this.folder, "errors.txt");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    for (const line of lines.slice(this.#errorsSeen)) this.say(`the host reported ${line.slice(0, 500)}`);
    this.#errorsSeen = lines.length;
  }

  /** Kills the host and starts another: it gives back all that the honest client was told, and did each of it once. */
  async audit(): Promise<void> {
    await this.kill();
    await this.start();
    const session = this.client().session("honest");
    const { done } = new Effects(this.folder);
    const times = new Map<string, number>();
    for (const { call } of done) times.set(call, (times.get(call) ?? 0) + 1);
    for (const value of this.#done.slice(-20)) {
      const [reply] = await session.replies(`r${value}`);
      if (reply?.output.outcome.payload !== value) this.say(`the answer to honest call ${value} is lost`);
    }
    for (const value of this.#done)
      if (times.get(String(value)) !== 1) this.say(`call ${value} was done ${times.get(String(value)) ?? 0} times`);
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.kill();
    if (this.wrong.length === 0) rmSync(this.folder, { recursive: true, force: true });
  }
}

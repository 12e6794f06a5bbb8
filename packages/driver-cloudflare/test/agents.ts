/** A workerd with agents in objects, a ledger outside of what they did, and rounds of kills. */
import { mkdtempSync, rmSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Worker, bundled, startWorker } from "./workerd.ts";

export const sleep = (ms: number): Promise<void> => new Promise((then) => void setTimeout(then, ms));

/** Time after which the ledger answers: a kill may hit an effect that was done and is not on record yet. */
const ledgerMs = 40;

export interface Said {
  readonly answer?: unknown;
  readonly error?: string;
}

/** Lists the effects of a trip, which its tool returns. */
export const effectsOf = (trip: string, steps: number): readonly string[] => [
  ...Array.from({ length: steps }, (_, i) => `${trip}/${i + 1}`),
  ...["packed", "a", "b"].map((what) => `${trip}/${what}`),
];

export class Agents {
  readonly #folder = mkdtempSync(join(tmpdir(), "pawl-agents-"));
  readonly #code: string;
  readonly #server: Server;
  #worker: Worker | undefined;
  /** Each effect, and the keys that it was done under. */
  readonly ledger = new Map<string, string[]>();

  private constructor(code: string) {
    this.#code = code;
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        const { what, key } = JSON.parse(body) as { readonly what: string; readonly key: string };
        this.ledger.set(what, [...(this.ledger.get(what) ?? []), key]);
        setTimeout(() => response.end(), ledgerMs);
      });
    });
  }

  static async open(): Promise<Agents> {
    const agents = new Agents(await bundled("worker/agent.ts"));
    await new Promise<void>((then) => void agents.#server.listen(0, "127.0.0.1", then));
    await agents.start();
    return agents;
  }

  async start(): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    this.#worker = await startWorker({
      code: this.#code,
      folder: this.#folder,
      texts: { LEDGER: `http://127.0.0.1:${port}` },
      objects: { className: "Agent", binding: "AGENT" },
    });
  }

  async kill(): Promise<void> {
    await this.#worker?.kill();
  }

  async close(): Promise<void> {
    await this.kill();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Calls a verb of the agent in the object of a scope. */
  async tell(scope: string, verb: string, ...of: readonly unknown[]): Promise<Said> {
    const body = JSON.stringify({ scope, verb, of });
    const answer = await fetch(this.#worker?.url ?? "", { method: "POST", body });
    return (await answer.json()) as Said;
  }

  /** Returns where clients of a scope connect. */
  socketUrl(scope: string): string {
    return `${this.#worker?.url.replace("http", "ws")}/?scope=${encodeURIComponent(scope)}`;
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
    for (let tries = 0; tries < seconds * 20; tries++) {
      if (await isSo()) return;
      await sleep(50);
    }
    throw new Error(`${what}: not within ${seconds} s; done were ${JSON.stringify([...this.ledger])}`);
  }

  /**
   * Lets agents travel, kills workerd a few times meanwhile, and touches no object after that until all effects are done.
   * Returns what went wrong.
   */
  async roundOfKills(
    trips: readonly string[],
    kills: number,
    pauseMs: (kill: number) => number,
  ): Promise<readonly string[]> {
    const steps = 4;
    const travel = (trip: string): Promise<Said> =>
      this.tell(`session:${trip}`, "ask", "r1", "travel", { trip, steps });
    for (const trip of trips) travel(trip).catch(() => undefined); // Its workerd is killed.
    await this.until("the first steps", () => trips.every((trip) => this.ledger.has(`${trip}/1`)));
    for (let i = 0; i < kills; i++) {
      await this.kill();
      await this.start();
      await sleep(pauseMs(i));
    }
    const wanted = trips.flatMap((trip) => effectsOf(trip, steps));
    await this.until("all effects", () => wanted.every((what) => this.ledger.has(what)));
    const wrong = wanted.flatMap((what) => {
      const keys = this.ledger.get(what) ?? [];
      const isRight = keys.length <= 1 + kills && new Set(keys).size === 1;
      return isRight ? [] : [`${what} was done ${keys.length} times, under ${new Set(keys).size} keys`];
    });
    for (const trip of trips) {
      const { answer, error } = await travel(trip);
      const expected = { status: "success", payload: effectsOf(trip, steps) };
      const found = JSON.stringify(answer ?? error);
      if (found !== JSON.stringify(expected)) wrong.push(`${trip} ended with ${found}`);
    }
    return wrong;
  }
}

/** Ten times as many requests as a host takes at a time: it refuses what it can not take, and stays as large as it is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { afterAll, expect, it } from "vitest";
import { Life } from "./life.ts";
import { hostToken } from "./place.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-flood-"));
/** What nobody refers to any more may not pile up either. */
const life = new Life(["--expose-gc", "--max-old-space-size=96", "--max-semi-space-size=4"]);
afterAll(async () => {
  life.kill();
  await life.ended;
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly id: number;
  readonly type: string;
  readonly code?: string;
  readonly retry_after_ms?: number;
  readonly replies?: readonly { readonly output: { readonly outcome: { readonly status: string } } }[];
}

/** Somebody who asks without restraint, and asks again only as told. */
class Flooder {
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #ids = 0;
  refused = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#hear(JSON.parse(String(data)) as Answer));
  }

  static async open(url: string): Promise<Flooder> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const flooder = new Flooder(socket);
    socket.send(JSON.stringify({ type: "hello", protocol: 1, token: hostToken }));
    return flooder;
  }

  #hear(answer: Answer): void {
    this.#asked.get(answer.id)?.(answer);
    this.#asked.delete(answer.id);
  }

  async ask(question: object): Promise<Answer> {
    for (;;) {
      const id = (this.#ids += 1);
      const answer = await new Promise<Answer>((resolve) => {
        this.#asked.set(id, resolve);
        this.#socket.send(JSON.stringify({ ...question, id }));
      });
      if (answer.type !== "error") return answer;
      if (answer.retry_after_ms === undefined) throw new Error(`refused for good: ${JSON.stringify(answer)}`);
      this.refused += 1;
      await pause(answer.retry_after_ms);
    }
  }

  close(): void {
    this.#socket.close();
  }
}

const [connections, capacity, rounds] = [2, 32, 3];
const perRound = capacity * 10;
const mebibyte = 1024 * 1024;
/** A host that kept what it refuses would hold this much more after each wave. */
const argument = "x".repeat(32 * 1024);

it("is refused with a time to come again, which then helps, and costs no memory", async () => {
  const limits = { maxInFlight: capacity };
  const url = await life.begin({ folder, instance: "flooded", commits: "thread", limits });
  const flooders = await Promise.all(Array.from({ length: connections }, () => Flooder.open(url as string)));
  const succeeded = new Set<string>();
  const call = async (flooder: Flooder, scope: string, request: string, n: number): Promise<void> => {
    const calls = [{ id: "c", tool: "brief", args: { call: "r:c", n, argument } }];
    const { replies } = await flooder.ask({ type: "call", scope, request, calls });
    expect(replies).toMatchObject([{ output: { outcome: { status: "success" } } }]);
    await flooder.ask({ type: "acknowledge", scope, request });
    succeeded.add(`${scope} ${request}`);
  };
  const weights: Awaited<ReturnType<Life["weight"]>>[] = [];
  for (let round = 0; round < rounds; round++) {
    const wave = flooders.flatMap((flooder, f) =>
      Array.from({ length: perRound }, (_, n) => call(flooder, `session:f${f}-${n % 8}`, `r${round}-${n}`, n)),
    );
    await Promise.all(wave);
    weights.push(await life.weight());
  }
  for (const flooder of flooders) {
    expect(flooder.refused).toBeGreaterThan(perRound);
    flooder.close();
  }
  expect(succeeded.size).toBe(connections * perRound * rounds);
  const [first, ...later] = weights;
  const grown = (of: "heap" | "resident"): number =>
    (Math.max(...later.map((weight) => weight[of])) - (first?.[of] ?? 0)) / mebibyte;
  expect(grown("heap"), "MiB more are held than after the first wave").toBeLessThan(6);
  expect(grown("resident"), "MiB more are resident than after the first wave").toBeLessThan(64);
}, 120_000);

/** Ten times as many requests as a host accepts: it refuses the rest and its memory stays bounded. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { afterAll, expect, it } from "vitest";
import { Life } from "./life.ts";
import type { Order } from "./order.ts";
import { hostToken } from "./place.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-flood-"));
const lives: Life[] = [];
afterAll(async () => {
  for (const life of lives) {
    life.kill();
    await life.ended;
  }
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly id: number;
  readonly type: string;
  readonly code?: string;
  readonly retry_after_ms?: number;
  readonly replies?: readonly { readonly output: { readonly outcome: { readonly status: string } } }[];
}

/** A client that asks without restraint and retries only as told. */
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

const [connections, capacity] = [2, 32];
/** `pnpm flood` runs more. */
const rounds = Number(process.env["PAWL_FLOOD_ROUNDS"] ?? 3);
const mebibyte = 1024 * 1024;
/** A host that kept what it refuses would hold this much more after each wave. */
const argument = "x".repeat(32 * 1024);

interface Flood {
  readonly of: string;
  readonly order: Pick<Order, "limits" | "bounds">;
  /** Requests of each connection in a wave: ten times the limit. */
  readonly wave: number;
}

const floods: readonly Flood[] = [
  { of: "questions in flight", order: { limits: { maxInFlight: capacity } }, wave: capacity * 10 },
  {
    of: "requests and characters of the runtime",
    order: { bounds: { requests: capacity, characters: capacity * argument.length, scopeRequests: capacity / 4 } },
    wave: (capacity * 10) / connections,
  },
];

for (const { of, order, wave } of floods)
  it(
    `of ${of} is refused with a time to retry, which then works, and uses no memory`,
    async () => {
      /** Garbage must not pile up either. */
      const life = new Life(["--expose-gc", "--max-old-space-size=96", "--max-semi-space-size=4"]);
      lives.push(life);
      const place = mkdtempSync(join(folder, "host-"));
      const url = await life.begin({ folder: place, instance: "flooded", commits: "thread", ...order });
      const flooders = await Promise.all(Array.from({ length: connections }, () => Flooder.open(url as string)));
      const succeeded = new Set<string>();
      const call = async (flooder: Flooder, scope: string, request: string, n: number): Promise<void> => {
        const calls = [{ label: "c", tool: "brief", args: { call: "r:c", n, argument } }];
        const { replies } = await flooder.ask({ type: "call", scope, request, calls });
        expect(replies).toMatchObject([{ output: { outcome: { status: "success" } } }]);
        await flooder.ask({ type: "acknowledge", scope, request });
        succeeded.add(`${scope} ${request}`);
      };
      const weights: Awaited<ReturnType<Life["weight"]>>[] = [];
      for (let round = 0; round < rounds; round++) {
        const asked = flooders.flatMap((flooder, f) =>
          Array.from({ length: wave }, (_, n) => call(flooder, `session:f${f}-${n % 8}`, `r${round}-${n}`, n)),
        );
        await Promise.all(asked);
        weights.push(await life.weight());
      }
      const refused = flooders.reduce((sum, flooder) => sum + flooder.refused, 0);
      expect(refused).toBeGreaterThan(connections * wave);
      for (const flooder of flooders) flooder.close();
      expect(succeeded.size).toBe(connections * wave * rounds);
      const [first, ...later] = weights;
      const grown = (what: "heap" | "resident"): number =>
        (Math.max(...later.map((weight) => weight[what])) - (first?.[what] ?? 0)) / mebibyte;
      expect(grown("heap"), "MiB more are held than after the first wave").toBeLessThan(6);
      expect(grown("resident"), "MiB more are resident than after the first wave").toBeLessThan(64);
    },
    rounds * 120_000,
  );

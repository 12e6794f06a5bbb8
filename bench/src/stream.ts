/** What streams cost in the log, by a virtual clock: 100 at once, 5,000 chunks of 40 characters each, 50 a second. */
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { Platform } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";
import type { Figure, Measurement } from "./figure.ts";

const streams = 100;
const chunks = 5000;
const characters = 40;
const chunkMs = 20;

/** Time that passes when it is told to. */
class VirtualTime implements Platform {
  #now = 1_700_000_000_000;
  #timers: { readonly at: number; readonly ring: () => void }[] = [];
  readonly hashText = hashText;

  readonly now = (): number => this.#now;
  readonly monotonic = (): number => this.#now;
  readonly nextTurn = (then: () => void): void => void setImmediate(then);
  readonly later = (ms: number, ring: () => void): (() => void) => {
    const timer = { at: this.#now + ms, ring };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  async pass(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { ring } of due) ring();
    for (let turns = 0; turns < 8; turns++) await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Cost {
  /** The records of a stream in a second of it. */
  readonly records: number;
  /** The bytes of its records, for each byte of its text. */
  readonly bytes: number;
}

const run = async (): Promise<Cost> => {
  const platform = new VirtualTime();
  const journal = memoryJournal({ now: platform.now });
  const words = async function* () {
    for (let n = 0; n < chunks; n++) {
      await new Promise<void>((resolve) => void platform.later(chunkMs, resolve));
      yield String(n).padEnd(characters, "x");
    }
  };
  const tool = defineTool({
    name: "talk",
    durable: true,
    execute: async (_, ctx) => (await ctx.stream("words", words)).length,
  });
  const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
  const runtime = new Runtime({ journal, platform, tools: [tool], instance: "bench", roots });
  const sessions = await Promise.all(Array.from({ length: streams }, (_, i) => runtime.session(`s${i}`)));
  const left = new Set(sessions);
  const over = Promise.all(
    sessions.map(async (session) => {
      await session.request("turn-1", [{ label: "call-1", tool: "talk", args: {} }]);
      left.delete(session);
    }),
  );
  while (left.size > 0) await platform.pass(chunkMs);
  await over;
  const lines = await Promise.all(Array.from({ length: streams }, (_, i) => journal.read(`session:s${i}`, 1)));
  const groups = lines.flat().filter(({ line }) => line.includes('"stream.recorded"'));
  const bytes = groups.reduce((sum, { line }) => sum + line.length + 1, 0);
  const seconds = (chunks * chunkMs) / 1000;
  return { records: groups.length / streams / seconds, bytes: bytes / (streams * chunks * characters) };
};

/** Both figures are of one run. */
let cost: Promise<Cost> | undefined;
const round = (name: keyof Cost) => async (): Promise<Measurement> => {
  cost ??= run();
  return { value: (await cost)[name], floor: 1 };
};

export const streamFigures: readonly Figure[] = [
  {
    name: "stream.records",
    what: "records of a stream in a second: 100 streams at once, 50 chunks of 40 characters a second each",
    unit: "a second",
    bound: 4,
    rounds: 1,
    warmUp: 0,
    round: round("records"),
  },
  {
    name: "stream.bytes",
    what: "bytes of the records of a stream, for each byte of its text",
    unit: "bytes",
    bound: 1.5,
    rounds: 1,
    warmUp: 0,
    round: round("bytes"),
  },
];

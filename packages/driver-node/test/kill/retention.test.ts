/**
 * A host that shortens its log all the time is killed with SIGKILL during a snapshot or retention; nothing may be
 * missing.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Event, type Recorded, headerLine, replay } from "@pawl/sansio-core";
import { sqliteJournal } from "../../src/index.ts";
import { pawl } from "../../../cli/test/pawl.ts";
import { wholeLog } from "./archive.ts";
import { Effects } from "./effects.ts";
import type { Fate, Point } from "./fate.ts";
import { Life } from "./life.ts";
import { hostProgram } from "./run.ts";
import type { Order } from "./order.ts";
import { Place } from "./place.ts";

const scope = "session:s";
const turns = Array.from({ length: 16 }, (_, n) => `r${n}`);

const begin = async (folder: string, n: number, fate: Fate | undefined, commits: Order["commits"]) => {
  const life = new Life([], hostProgram);
  const more = fate === undefined ? {} : { fate };
  const url = await life.begin({ folder, instance: `host-${n}`, commits, snapshots: true, retention: true, ...more });
  return { life, url };
};

/** Runs one session, turn after turn; its host dies at this point and the next one continues. */
const lived = async (folder: string, fate: Fate, commits: Order["commits"]) => {
  const place = new Place();
  const session = place.client().session("s");
  const lives: Life[] = [];
  const run = async (): Promise<readonly unknown[]> => {
    const outcomes: unknown[] = [];
    for (const request of turns) {
      const calls = ["heavy", "steps"].map((tool) => ({
        label: tool,
        tool,
        args: { call: `${request}:${tool}`, n: 1 },
      }));
      const replies = await session.request(request, calls, { keep: true });
      await session.acknowledge(request);
      outcomes.push(...replies.map(({ output }) => output.outcome.payload));
    }
    return outcomes;
  };
  try {
    const first = await begin(folder, 1, fate, commits);
    lives.push(first.life);
    place.moveTo(first.url);
    const running = run();
    const signal = await Promise.race([first.life.ended, running.then(() => undefined)]);
    place.moveTo(undefined);
    const second = await begin(folder, 2, undefined, commits);
    lives.push(second.life);
    place.moveTo(second.url);
    place.reconnect();
    return { signal, outcomes: await running };
  } finally {
    place.close();
    for (const life of lives) life.kill();
    await Promise.all(lives.map(({ ended }) => ended));
  }
};

const settled = (event: Event): string | undefined =>
  event.type === "step.settled" ? `${event.call} ${event.key}` : undefined;

const checked = async (folder: string) => {
  const file = join(folder, "journal.db");
  const journal = sqliteJournal(file);
  const lines = await wholeLog(journal, folder, scope);
  const header = headerLine({ format: 1, protocol: 1, scope, epoch: 1, writer: "kills", base: 0 });
  const recorded: Recorded[] = [];
  const { fault, events } = replay([header, ...lines], { onStep: (one) => void recorded.push(one) });
  const chain = await journal.verify(scope);
  const segment = await journal.segment(scope);
  const rest = (await journal.read(scope, 1)).length;
  await journal.close();
  const steps = recorded.flatMap(({ event }) => settled(event) ?? []);
  const done = new Effects(folder).done.map(({ call, key }) => `${call} ${key}`);
  const missing = steps.filter((step) => !done.includes(step));
  const repeated = done.filter((step, i) => done.indexOf(step) !== i);
  return { fault, events, lines: lines.length, chain, segment, rest, steps, missing, repeated };
};

const points: readonly (readonly [Point, number])[] = [
  ["in_retention", 1],
  ["in_retention", 4],
  ["after_retention", 1],
  ["after_retention", 3],
  ["in_snapshot", 2],
  ["in_snapshot", 5],
  ["after_snapshot", 3],
];

describe("a host that shortens its log", () => {
  it.each(points)(
    "loses nothing when it is killed with SIGKILL %s, the %i. time",
    async (point, nth) => {
      const folder = mkdtempSync(join(tmpdir(), "pawl-retention-"));
      const commits = nth % 2 === 0 ? "thread" : "inline";
      const { signal, outcomes } = await lived(folder, { point, nth, signal: "SIGKILL" }, commits);
      expect(signal).toBe("SIGKILL");
      expect(outcomes).toEqual(turns.flatMap(() => [20_000, [["left-0", "right-0-slow"]]]));
      const { fault, events, lines, chain, segment, rest, steps, missing, repeated } = await checked(folder);
      expect([fault, events, missing]).toEqual([undefined, lines, []]);
      expect(chain?.type).toBe("whole");
      expect(segment?.base).toBeGreaterThan(0);
      expect(rest).toBeLessThan(lines);
      expect(new Set(steps).size).toBe(steps.length);
      expect(repeated.length).toBeLessThanOrEqual(2); // Unrecorded work of the dead host may be repeated.
      const output = join(folder, "s.jsonl");
      expect(await pawl(["log", "export", `${join(folder, "journal.db")}#s`, "-o", output])).toMatchObject({ code: 0 });
      expect(await pawl(["log", "verify", output])).toMatchObject({ code: 0 });
      expect(await pawl(["log", "replay", output])).toMatchObject({ code: 0 });
      rmSync(folder, { recursive: true });
    },
    120_000,
  );
});

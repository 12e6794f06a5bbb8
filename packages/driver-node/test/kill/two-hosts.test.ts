/**
 * Two hosts on one journal file: sessions of one await processes of the other, while one is killed between its appends.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqliteJournal } from "../../src/index.ts";
import { Effects } from "./effects.ts";
import type { Fate } from "./fate.ts";
import { Life } from "./life.ts";
import { hostProgram } from "./run.ts";
import { Place } from "./place.ts";
import { until } from "../until.ts";

const scopes = ["process:of-a", "process:of-b", "session:a", "session:b"];
const calls = [{ label: "c", tool: "crossed", args: { call: "r:c", n: 1 } }];

type Journal = ReturnType<typeof sqliteJournal>;

const linesOf = async (journal: Journal, scope: string): Promise<readonly string[]> =>
  (await journal.read(scope, 1)).map(({ line }) => line);

const has = async (journal: Journal, scope: string, type: string): Promise<boolean> =>
  (await linesOf(journal, scope)).some((line) => line.includes(`"event":{"type":"${type}"`));

/**
 * Tells whether the first host stalled beyond its lease and lost its session: then it never reaches its n-th append.
 */
const isTaken = async (journal: Journal): Promise<boolean> =>
  (await linesOf(journal, "session:a")).some((line) => line.includes('"owner":"lives"'));

/** Returns messages that were recorded more than once, by sender and number. */
const doubled = async (journal: Journal, scope: string): Promise<readonly string[]> => {
  const names = (await linesOf(journal, scope)).flatMap(
    (line) => /"type":"message.received","from":"[^"]+","link":\d+,"number":\d+/.exec(line)?.[0] ?? [],
  );
  return names.filter((name, i) => names.indexOf(name) !== i);
};

/** Returns what is wrong with the logs. */
const wrongIn = async (journal: Journal, folder: string): Promise<readonly string[]> => {
  const wrong: string[] = [];
  for (const scope of scopes) {
    const check = await journal.verify(scope);
    if (check?.type !== "whole") wrong.push(`${scope}: the chain is ${JSON.stringify(check)}`);
    for (const name of await doubled(journal, scope)) wrong.push(`${scope}: twice: ${name}`);
    await until(async () => (await journal.inbox(scope)).length === 0);
  }
  for (const scope of ["process:of-a", "process:of-b"]) {
    const done = new Effects(folder).done.filter((one) => one.scope === scope).length;
    const settled = (await linesOf(journal, scope)).filter((line) => line.includes('"type":"step.settled"')).length;
    if (settled !== 1 || done < 1 || done > 2) wrong.push(`${scope}: done ${done} times, recorded ${settled} times`);
  }
  return wrong;
};

const start = async (folder: string, instance: string, fate?: Fate) => {
  const life = new Life([], hostProgram);
  const order = {
    folder,
    instance,
    commits: "inline",
    leaseMs: 1200,
    ...(fate === undefined ? {} : { fate }),
  } as const;
  return { life, url: await life.begin(order) };
};

/** Returns the signal that ended the first host before everything was done. */
const endOf = async (
  life: Life,
  isOver: Promise<"over">,
  journal: Journal,
): Promise<NodeJS.Signals | "over" | null> => {
  let isKnown = false;
  const isLate = until(async () => isKnown || isTaken(journal));
  try {
    const end = await Promise.race([life.ended, isOver, isLate]);
    if (end !== undefined) return end;
    life.kill();
    return await life.ended;
  } finally {
    isKnown = true;
    await isLate;
  }
};

/** Runs both sessions, each at its host; the first host dies at its n-th append. */
const lived = async (nth: number) => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-two-hosts-"));
  const fate = { point: "before_append", nth, signal: "SIGKILL" } as const;
  const [dies, lives] = await Promise.all([start(folder, "dies", fate), start(folder, "lives")]);
  const [first, second] = [new Place(), new Place()];
  const journal = sqliteJournal(join(folder, "journal.db"), { busyMs: 20_000 });
  try {
    first.moveTo(dies.url);
    second.moveTo(lives.url);
    const asked = [first, second].map((place, i) =>
      place
        .client()
        .session("ab"[i] as string)
        .request("r", calls),
    );
    const isOver = Promise.all(asked).then(() => "over" as const);
    const death = await endOf(dies.life, isOver, journal);
    if (death === "SIGKILL") {
      first.moveTo(undefined);
      const isAsked = await has(journal, "session:a", "request.submitted");
      if (isAsked) await until(() => has(journal, "session:a", "call.settled"));
      first.moveTo(lives.url);
    }
    const outcomes = (await Promise.all(asked)).map(([reply]) => reply?.output.outcome);
    return { outcomes, death, wrong: await wrongIn(journal, folder) };
  } finally {
    first.close();
    second.close();
    for (const { life } of [dies, lives]) life.kill();
    await Promise.all([dies.life.ended, lives.life.ended]);
    await journal.close();
    rmSync(folder, { recursive: true });
  }
};

const worked = { status: "success", payload: { type: "success", value: "worked" } };

describe("two hosts on one journal file, whose sessions await each other's processes", () => {
  const places = Array.from({ length: 14 }, (_, i) => i + 1);
  it.each(places)(
    "lose and double nothing when one is killed with SIGKILL before its append %i; the other continues by itself",
    async (nth) => {
      const { outcomes, wrong, death } = await lived(nth);
      if (nth <= 6) expect(death).toBe("SIGKILL"); // There are at least this many appends, however they are grouped.
      expect(wrong).toEqual([]);
      expect(outcomes).toMatchObject([worked, worked]);
    },
    120_000,
  );
});

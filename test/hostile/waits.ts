/**
 * How long one client makes others wait, measured on a host in a process of its own: by what an honest client waits, and
 * by how long the host's thread works at a stretch, in its own processor time. The first needs an idle machine.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, type SessionClient } from "@pawl/driver-node/client";
import type { Json } from "@pawl/tool-value";
import { Life } from "../../packages/driver-node/test/kill/life.ts";
import type { Order } from "../../packages/driver-node/test/kill/order.ts";
import { tokenOf } from "./siege.ts";

export interface Figure {
  readonly name: string;
  readonly found: number;
  readonly most: number;
  readonly unit: string;
}

interface Place {
  readonly life: Life;
  readonly client: () => Client;
}

const victim = join(import.meta.dirname, "victim.ts");

/** Runs work on a host of its own. */
const onHost = async <A>(work: (place: Place) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-waits-"));
  const life = new Life(["--expose-gc", "--max-old-space-size=400"], victim);
  const clients: Client[] = [];
  try {
    const order = { folder, instance: "host-1", commits: "inline", leaseMs: 60_000 } satisfies Order;
    const url = (await life.begin(order)) as string;
    const client = (): Client => {
      const made = new Client({ url, token: tokenOf() });
      clients.push(made);
      return made;
    };
    return await work({ life, client });
  } finally {
    for (const client of clients) client.close();
    life.kill();
    await life.ended;
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Calls again and again while work is done. Returns the longest time that a call took. */
const honestWait = async ({ client }: Place, work: () => Promise<unknown>): Promise<number> => {
  const session = client().session("honest");
  const over = new AbortController();
  let [longest, n] = [0, 0];
  const calling = (async () => {
    while (!over.signal.aborted) {
      const begunAt = performance.now();
      await session.request(`h${(n += 1)}`, [{ tool: "echo", args: n }]);
      longest = Math.max(longest, performance.now() - begunAt);
      await pause(5);
    }
  })();
  await work();
  over.abort();
  await calling;
  return longest;
};

const callsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ label: `c${n}`, tool: "echo", args: { n } }));

const request = async (session: SessionClient, id: string, count: number): Promise<void> => {
  const replies = await session.request(id, callsOf(count));
  if (replies.length !== count) throw new Error(`${count} calls had ${replies.length} replies`);
};

/** The least of three rounds: what a host takes when nothing else disturbs it. */
const rounds = [1, 2, 3];

/** Thousands of calls in one request, and what a call costs beside one of a hundred. */
export const waitForCalls = (count = 10_000): Promise<readonly Figure[]> =>
  onHost(async (place) => {
    const session = place.client().session("small");
    for (let n = 0; n < 20; n += 1) await request(session, `warm-${n}`, 100);
    const found = { wait: Infinity, longest: Infinity, small: Infinity, large: Infinity };
    for (const round of rounds) {
      const small = await place.life.watch(async () => {
        for (let n = 0; n < 10; n += 1) await request(session, `r${round}-${n}`, 100);
      });
      const many = place.client().session(`many-${round}`);
      const alone = await place.life.watch(() => request(many, "alone", count));
      found.wait = Math.min(found.wait, await honestWait(place, () => request(many, "beside", count)));
      found.longest = Math.min(found.longest, alone.longest);
      found.small = Math.min(found.small, small.spent / 1000);
      found.large = Math.min(found.large, alone.spent / count);
    }
    return [
      { name: `${count} calls: another client waits`, found: found.wait, most: 50, unit: "ms" },
      { name: `${count} calls: the thread works at a stretch`, found: found.longest, most: 25, unit: "ms" },
      { name: `${count} calls: a call beside one of 100`, found: found.large / found.small, most: 2, unit: "times" },
    ];
  });

const wide = (keys: number): Json => Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n]));

const table = (keys: number): Json => ({ rows: Array.from({ length: keys / 10 }, () => wide(10)) });

/** One call whose arguments have many keys: as rows of a table, and in objects that are as wide as they may be. */
export const waitForKeys = (keys = 200_000): Promise<readonly Figure[]> =>
  onHost(async (place) => {
    const figures: Figure[] = [];
    const given = [
      { name: "in rows", args: table(keys), most: 100 },
      { name: "in two objects", args: [wide(keys / 2), wide(keys / 2)], most: 500 },
    ];
    for (const { name, args, most } of given) {
      let longest = Infinity;
      for (const round of rounds) {
        const session = place.client().session(`keys-${round}`);
        const watched = await place.life.watch(() => session.request(name, [{ tool: "echo", args }]));
        longest = Math.min(longest, watched.longest);
      }
      figures.push({ name: `${keys} keys ${name}: the thread works at a stretch`, found: longest, most, unit: "ms" });
    }
    return figures;
  });

const mebibyte = 1024 * 1024;

/** Resident bytes of a process, garbage included: asking the process would make it collect that, while others wait. */
const residentOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096;

/** Takes the most of a measure while work is done. */
const mostOf = async (measure: () => number, work: () => Promise<unknown>): Promise<number> => {
  let most = measure();
  const beat = setInterval(() => (most = Math.max(most, measure())), 100);
  try {
    await work();
  } finally {
    clearInterval(beat);
  }
  return most;
};

/** Clients that read a long log at once, each to its end. */
export const waitForReaders = (readers = 300, logMb = 30): Promise<readonly Figure[]> =>
  onHost(async (place) => {
    const { life } = place;
    const session = place.client().session("long");
    const argument = "x".repeat(32 * 1024);
    for (let n = 0; n * argument.length < logMb * mebibyte; n += 1)
      await session.request(`r${n}`, [{ tool: "strict", args: { text: "a", argument } }]);
    const end = await session.open();
    const { resident } = await life.weight();
    let done = 0;
    const read = async (): Promise<void> => {
      const own = place.client();
      for await (const { cursor } of own.session("long").observe({ after: 0 })) if (cursor >= end) break;
      done += 1;
      own.close();
    };
    const readAll = (): Promise<unknown> => Promise.all(Array.from({ length: readers }, read));
    let wait = 0;
    let grown = 0;
    const watched = await life.watch(async () => {
      const most = await mostOf(
        () => residentOf(life.pid),
        async () => (wait = await honestWait(place, readAll)),
      );
      grown = most - resident;
    });
    return [
      {
        name: `${readers} readers of ${logMb} MB: they did not come to the end`,
        found: readers - done,
        most: 0,
        unit: "",
      },
      { name: `${readers} readers of ${logMb} MB: the host grows by`, found: grown / mebibyte, most: 300, unit: "MB" },
      { name: `${readers} readers of ${logMb} MB: another client waits`, found: wait, most: 250, unit: "ms" },
      { name: `${readers} readers: the thread works at a stretch`, found: watched.longest, most: 50, unit: "ms" },
    ];
  });

/** Costs of a journal on PostgreSQL, relative to rows inserted by hand with the same client, a commit each. */
import { nodePlatform, openRuntime, sqliteJournal } from "@pawl/driver-node";
import { postgresJournal } from "@pawl/journal-postgres";
import { type Journal, Runtime, type Session, type ToolDefinition } from "@pawl/runtime";
import { Client } from "pg";
import { hasServer, testServer } from "../../packages/journal-postgres/test/server.ts";
import type { Figure, Measurement } from "./figure.ts";
import { callOf, folder, spentUs, stepping } from "./node-world.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Bytes of log for one durable step: its settlement and the next request. */
const rowBytes = 700;
const row = "x".repeat(rowBytes);

interface Floor {
  readonly insert: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const floorAt = async (url: string): Promise<Floor> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE IF NOT EXISTS floor (id bigserial PRIMARY KEY, scope bigint, text text)");
  const insert = { name: "floor", text: "INSERT INTO floor (scope, text) VALUES ($1, $2)", values: [1, row] };
  return { insert: () => client.query(insert), close: () => client.end() };
};

let server: ReturnType<typeof testServer> | undefined;
let schemas = 0;

interface World {
  readonly runtime: Runtime;
  readonly url: string;
}

const durable = stepping({ name: "work", durable: true });

/** Opens a runtime in a schema of its own. */
const inWorld = async <A>(
  run: (world: World) => Promise<A>,
  tools: readonly ToolDefinition[] = [durable],
): Promise<A> => {
  server ??= testServer();
  const { url } = await server;
  const postgres = { url, schema: `bench_${(schemas += 1)}` };
  const { runtime, close } = openRuntime({ postgres, tools });
  try {
    return await run({ runtime, url });
  } finally {
    await close();
  }
};

const withFloor = async <A>(url: string, run: (floor: Floor) => Promise<A>): Promise<A> => {
  const floor = await floorAt(url);
  try {
    return await run(floor);
  } finally {
    await floor.close();
  }
};

const steps = 10;

/** Alternates a call with as many inserts as it has steps. */
const sequence = (): Promise<Measurement> =>
  inWorld(async ({ runtime, url }) =>
    withFloor(url, async ({ insert }) => {
      const session = await runtime.session("bench");
      await callOf(session, steps);
      const calls = 100;
      let [value, floor] = [0, 0];
      for (let i = 0; i < calls; i++) {
        value += await spentUs(() => callOf(session, steps));
        floor += await spentUs(async () => {
          for (let n = 0; n < steps; n++) await insert();
        });
      }
      return { value: value / (calls * steps), floor: floor / (calls * steps) };
    }),
  );

const atOnce = 32;
const crowd = 200;

/** Runs `crowd` calls, `atOnce` at a time; the floor has as many connections that insert as many rows. */
const concurrent = (): Promise<Measurement> =>
  inWorld(async ({ runtime, url }) => {
    const sessions = await Promise.all(Array.from({ length: atOnce }, (_, i) => runtime.session(`s${i}`)));
    const shared = async (work: (i: number) => Promise<unknown>): Promise<number> => {
      let left = crowd;
      const lane = async (i: number): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await work(i);
        }
      };
      return spentUs(() => Promise.all(sessions.map((_, i) => lane(i))));
    };
    const value = await shared((i) => callOf(sessions[i] as Session, steps));
    const floors: Floor[] = [];
    for (let i = 0; i < atOnce; i++) floors.push(await floorAt(url));
    const floor = await shared(async (i) => {
      for (let n = 0; n < steps; n++) await floors[i]?.insert();
    });
    await Promise.all(floors.map((one) => one.close()));
    return { value: value / (crowd * steps), floor: floor / (crowd * steps) };
  });

const long = 1000;

const longCall = (): Promise<Measurement> =>
  inWorld(async ({ runtime, url }) =>
    withFloor(url, async ({ insert }) => {
      const session = await runtime.session("bench");
      const value = await spentUs(() => callOf(session, long));
      const floor = await spentUs(async () => {
        for (let n = 0; n < long; n++) await insert();
      });
      return { value: value / long, floor: floor / long };
    }),
  );

const medianOf = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] as number;

const oneStep = (): Promise<Measurement> =>
  inWorld(async ({ runtime, url }) =>
    withFloor(url, async ({ insert }) => {
      const session = await runtime.session("bench");
      const [values, floors]: [number[], number[]] = [[], []];
      for (let i = 0; i < 200; i++) {
        values.push(await spentUs(() => callOf(session, 1)));
        floors.push(await spentUs(insert));
      }
      return { value: medianOf(values), floor: medianOf(floors) };
    }),
  );

type OwnJournal = Journal & { readonly close: () => Promise<void> };

const roots = { newest: { kid: "bench", secret: new Uint8Array(32) } };
const pauseMs = 50;

/**
 * One life of a session whose body has recorded this many steps: returns the milliseconds until it continues. The runtime has no
 * lease, so that no recovery takes the session up before it is asked for.
 */
const lifeOf = async (journal: OwnJournal, recorded: number): Promise<number> => {
  const opened = Promise.withResolvers<number>();
  let start = 0;
  const tool = stepping({ durable: true }, (n) => {
    if (n === recorded - 1) opened.resolve(performance.now() - start);
    return n < recorded ? undefined : new Promise<never>(() => undefined);
  });
  const runtime = new Runtime({ journal, platform: nodePlatform, instance: "bench", tools: [tool], roots });
  await runtime.session("other"); // Connects.
  await sleep(pauseMs);
  start = performance.now();
  const session = await runtime.session("bench");
  void session.request("r", [{ label: "c", tool: "work", args: { steps: 10 * long } }]).catch(() => undefined);
  const ms = await opened.promise;
  await sleep(pauseMs);
  await runtime.close();
  await journal.close();
  return ms;
};

/** Alternates with the same on SQLite. */
const resume = async (): Promise<Measurement> => {
  server ??= testServer();
  const [{ url }, at, schema] = [await server, folder(), `bench_${(schemas += 1)}`];
  const postgres = (recorded: number) => lifeOf(postgresJournal({ url, schema }), recorded);
  const sqlite = (recorded: number) => lifeOf(sqliteJournal(join(at, "journal.db"), { writer: true }), recorded);
  await postgres(long);
  await sqlite(long);
  const [values, floors]: [number[], number[]] = [[], []];
  for (let i = 1; i <= 5; i++) {
    values.push(await postgres(long + i));
    floors.push(await sqlite(long + i));
  }
  rmSync(at, { recursive: true });
  return { value: medianOf(values), floor: medianOf(floors) };
};

const close = (): void => {
  void server?.then((one) => one.remove());
  server = undefined;
};

const figure = (name: string, bound: number, what: string, round: Figure["round"], unit = "us"): Figure => ({
  name: `pg.${name}`,
  what,
  unit,
  bound,
  round,
  close,
  ...(name === "resume" ? { rounds: 1 } : { warmUp: 2, rounds: 7 }),
});

export const postgresFigures: readonly Figure[] = hasServer
  ? [
      figure("seq", 1 / 0.5, "a durable step of calls of 10, one at a time, relative to an insert over `pg`", sequence),
      figure("conc", 1 / 0.6, "a step of 32 calls at once, relative to 32 connections that insert", concurrent),
      figure("long", 1 / 0.58, "a step of a call of 1,000, relative to an insert", longCall),
      figure("call", 4.5, "a call of one step, relative to an insert", oneStep),
      figure("resume", 1.3, "opening a session of 1,000 recorded steps, relative to SQLite", resume, "ms"),
    ]
  : [];

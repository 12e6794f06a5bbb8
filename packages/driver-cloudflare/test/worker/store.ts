/** A worker whose objects hold one scope of a journal each, and the checks of journals over all of them. */
import { DurableObject } from "cloudflare:workers";
import { type Journal, defineTool } from "@pawl/runtime";
import { type JournalRig, journalChecks, platformChecks } from "@pawl/testkit";
import { messageTurn } from "@pawl/runtime/driver";
import { Alarm, Waits, platformOf } from "../../src/alarm.ts";
import { Carrier, type Letter, type Peer } from "../../src/carrier.ts";
import { type ObjectJournal, objectJournal } from "../../src/journal.ts";
import type { ObjectStorage, SqlValue } from "../../src/object.ts";
import { openScope } from "../../src/open.ts";
import type { Steady } from "./steady.ts";

interface Env {
  readonly STORE: DurableObjectNamespace<Store>;
}

/** Names of objects: a run of a check, and the scope. */
const nameOf = (run: string, scope: string): string => `${run}|${scope}`;

const utf8 = new TextEncoder();

/** Asserts what the platform demands of a statement in production, and workerd on this machine does not. */
const asserting = ({ sql, ...rest }: ObjectStorage): ObjectStorage => ({
  ...rest,
  sql: {
    get databaseSize() {
      return sql.databaseSize;
    },
    exec: (statement, ...bound: SqlValue[]) => {
      if (bound.length > 100) throw new Error(`${bound.length} values are bound: ${statement}`);
      for (const value of bound)
        if (typeof value === "string" && utf8.encode(value).length > 1_900_000)
          throw new Error(`a value is too long for a row: ${statement}`);
      return sql.exec(statement, ...bound);
    },
  },
});

type Verbs = Omit<Journal, "outbox" | "moves" | "blobs" | "open" | "stored">;

const storageOf = ({ storage }: DurableObjectState): ObjectStorage => ({
  sql: storage.sql,
  transactionSync: (work) => storage.transactionSync(work),
  sync: () => storage.sync(),
  getAlarm: () => storage.getAlarm(),
  setAlarm: (at) => storage.setAlarm(at),
});

const report = (what: string, thrown: unknown): void => console.error(what, thrown);

export class Store extends DurableObject<Env> implements Peer {
  readonly #store: ObjectJournal;
  readonly #carrier: Carrier;
  #maxBytes = Infinity;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const [run = "", scope = ""] = (ctx.id.name ?? "").split("|");
    const storage = asserting(storageOf(ctx));
    const alarm = new Alarm(storage, report);
    const maxBytes = (): number => this.#maxBytes;
    const options = {
      get maxBytes() {
        return maxBytes();
      },
    };
    this.#store = objectJournal({ scope, storage, alarm, options, carry: (to) => void this.#carrier.carry(to) });
    const { STORE } = env;
    const peer = (to: string): Peer => STORE.get(STORE.idFromName(nameOf(run, to)));
    this.#carrier = new Carrier({ scope, mail: this.#store.mail, peer, later: new Waits(alarm).later, report });
  }

  /** Calls a verb of the journal. `room`: the bytes that it may still take. */
  async verb(room: number | undefined, name: keyof Verbs, ...of: readonly unknown[]): Promise<unknown> {
    this.#maxBytes = room === undefined ? Infinity : this.ctx.storage.sql.databaseSize + room;
    const verb = this.#store.journal[name] as (...of: readonly unknown[]) => Promise<unknown>;
    return verb(...of);
  }

  async deliver(from: string, letters: readonly Letter[]): Promise<void> {
    this.#store.mail.deliver(from, letters);
    await this.ctx.storage.sync();
  }

  carried(): Promise<void> {
    return this.#carrier.carryAll();
  }

  /** Runs steps for some time, and says how often the alarm was set, and how many rows were written for how many appends. */
  async steady(ms: number): Promise<Steady> {
    const storage = storageOf(this.ctx);
    const counts = { alarms: 0, rows: 0, steps: 0 };
    const { sql } = this.ctx.storage;
    const metered: ObjectStorage = {
      ...storage,
      setAlarm: (at) => ((counts.alarms += 1), storage.setAlarm(at)),
      sql: {
        databaseSize: 0,
        exec: (statement, ...bound) => {
          const rows = sql.exec(statement, ...bound);
          const all = rows.toArray();
          counts.rows += rows.rowsWritten;
          return { toArray: () => all as never };
        },
      },
    };
    const tick = defineTool({
      name: "tick",
      durable: true,
      execute: async (_, ctx) => {
        for (const until = Date.now() + ms; Date.now() < until; counts.steps += 1)
          await ctx.run(`step ${counts.steps}`, () => new Promise<null>((then) => void setTimeout(then, 10, null)));
        return null;
      },
    });
    const state = { id: {}, storage: metered, waitUntil: () => undefined };
    const peer = (): Peer => this;
    const session = await openScope(state, { scope: "session:steady", tools: [tick], peer }).session();
    const before = counts.rows;
    const from = session.state.seq;
    await session.request("r", [{ label: "c", tool: "tick", args: {} }]);
    return { ...counts, rows: counts.rows - before, lines: session.state.seq - from };
  }

  override alarm(): void {}
}

/** A journal over the objects of all its scopes, as a program would see it that knows them all. */
class Fleet {
  readonly #objects: Env["STORE"];
  readonly #run: string;
  readonly #scopes = new Set<string>();

  constructor(objects: Env["STORE"], run: string) {
    this.#objects = objects;
    this.#run = run;
  }

  #at(scope: string): DurableObjectStub<Store> {
    this.#scopes.add(scope);
    return this.#objects.get(this.#objects.idFromName(nameOf(this.#run, scope)));
  }

  /** Asks the objects of all scopes, by their names, once their mail has been carried. */
  async #all<A>(ask: (at: DurableObjectStub<Store>, scope: string) => Promise<readonly A[]>): Promise<A[]> {
    await this.#carried();
    const found = await Promise.all([...this.#scopes].toSorted().map((scope) => ask(this.#at(scope), scope)));
    return found.flat();
  }

  async #carried(): Promise<void> {
    for (const scope of this.#scopes) await this.#at(scope).carried();
  }

  journal(room?: number): Journal {
    const call = (scope: string, name: keyof Verbs, ...of: readonly unknown[]): Promise<never> =>
      this.#at(scope).verb(room, name, ...of) as Promise<never>;
    return {
      join: async () => undefined,
      renew: async () => true,
      lost: async () => [],
      leave: async (instance) => {
        await this.#all(async (at) => (await at.verb(room, "leave", instance), []));
      },
      claim: (scope, ...of) => call(scope, "claim", scope, ...of),
      load: (scope, ...of) => call(scope, "load", scope, ...of),
      release: (scope, ...of) => call(scope, "release", scope, ...of),
      appendAll: async (appends) => {
        for (const { messages } of appends) for (const { to } of messages) this.#at(to);
        // A scope receives only what has come to it.
        if (appends.some(({ received }) => received.length > 0)) await this.#carried();
        const results: unknown[] = [];
        for (const one of appends) results.push(...((await call(one.scope, "appendAll", [one])) as readonly unknown[]));
        return results as never;
      },
      read: (scope, ...of) => call(scope, "read", scope, ...of),
      find: (scope, ...of) => call(scope, "find", scope, ...of),
      due: async (now, instance, limit) => {
        const due = await this.#all(async (at, scope) => {
          const names = (await at.verb(room, "due", now, instance)) as readonly string[];
          const [entry] = (await at.verb(room, "scopes", scope, "", 1)) as readonly { readonly wakeAt?: number }[];
          return names.map((name) => ({ name, wakeAt: entry?.wakeAt ?? 0 }));
        });
        return due
          .toSorted((a, b) => a.wakeAt - b.wakeAt)
          .map(({ name }) => name)
          .slice(0, limit);
      },
      inbox: async (scope) => {
        await this.#carried();
        return call(scope, "inbox", scope);
      },
      mailed: async (instance, limit) => {
        const mailed = await this.#all(async (at) => (await at.verb(room, "mailed", instance)) as readonly string[]);
        return mailed.slice(0, limit);
      },
      scopes: (prefix, after, limit) => this.#list(room, "scopes", prefix, after, limit),
      awaitingApproval: (prefix, after, limit) => this.#list(room, "awaitingApproval", prefix, after, limit),
      snapshot: (scope, ...of) => call(scope, "snapshot", scope, ...of),
      retain: (scope, ...of) => call(scope, "retain", scope, ...of),
      segment: (scope, ...of) => call(scope, "segment", scope, ...of),
      head: (scope, ...of) => call(scope, "head", scope, ...of),
      verify: (scope, ...of) => call(scope, "verify", scope, ...of),
    };
  }

  async #list(
    room: number | undefined,
    name: "scopes" | "awaitingApproval",
    ...[prefix, after, limit]: Parameters<Journal["scopes"]>
  ): Promise<never> {
    const entries = await this.#all(async (at, scope) =>
      scope.startsWith(prefix) && scope > after
        ? ((await at.verb(room, name, scope, "", 1)) as readonly { readonly epoch: number }[])
        : [],
    );
    return entries.filter(({ epoch }) => epoch > 0).slice(0, limit) as never;
  }
}

const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Runs one check: answers with what it found, or nothing. */
const verdictOf = async (run: () => Promise<void>): Promise<Response> => {
  try {
    await run();
    return new Response("");
  } catch (thrown) {
    return new Response(textOf(thrown));
  }
};

const runJournalCheck = async (name: string, objects: Env["STORE"]): Promise<void> => {
  const fleet = new Fleet(objects, crypto.randomUUID());
  const rig: JournalRig = { open: async (room) => fleet.journal(room), pass: () => undefined };
  await journalChecks.find((check) => check.name === name)?.run(rig);
};

const same = (found: unknown, wanted: unknown, what: string): void => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${what} came back another`);
};

const large = (seed: string): string => `${seed}${"ї\u{1f512}x".repeat(600_000)}`;

/** Writes texts that are longer than a row may be, wherever a text may lie, and reads them back. */
const runLargeCheck = async (objects: Env["STORE"]): Promise<void> => {
  const journal = new Fleet(objects, crypto.randomUUID()).journal();
  await journal.claim("s", "a", 3);
  await journal.claim("t", "a", 3);
  const line = (seq: number) => ({ seq, line: `${large(`${seq}`)}\n` });
  const at = { scope: "s", epoch: 1, finished: [], wakeAt: undefined, protocol: 3, received: [] };
  const letter = { kind: "message", link: 1, number: 1 } as const;
  const messages = [
    { to: "t", ...letter, text: large("letter") },
    { to: "s", ...letter, text: large("own") },
  ];
  await journal.appendAll([{ ...at, expectedSeq: 1, appendId: "1", lines: [line(1), line(2)], messages }]);
  await journal.appendAll([{ ...at, expectedSeq: 3, appendId: "3", lines: [line(3)], messages: [] }]);
  same(await journal.read("s", 1), [line(1), line(2), line(3)], "the lines");
  same(await journal.inbox("t"), [{ from: "s", ...letter, text: large("letter") }], "a letter to another scope");
  same(await journal.inbox("s"), [{ from: "s", ...letter, text: large("own") }], "a letter to itself");
  await journal.snapshot("s", 1, 2, large("snapshot"));
  same((await journal.load("s", "a"))?.snapshot, { seq: 2, text: large("snapshot") }, "the snapshot");
  await journal.retain("s", 1, [2]);
  same((await journal.segment("s"))?.snapshot, large("snapshot"), "the segment");
  same(await journal.read("s", 1), [line(2), line(3)], "the lines after retention");
};

const runPlatformCheck = async (name: string, turn: string | null): Promise<void> => {
  const own = platformOf({
    later: (ms, then) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
  });
  const platform = turn === "message" ? { ...own, nextTurn: messageTurn } : own;
  await platformChecks.find((check) => check.name === name)?.run(platform);
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const name = searchParams.get("name") ?? "";
    if (pathname === "/journal") return verdictOf(() => runJournalCheck(name, env.STORE));
    if (pathname === "/platform") return verdictOf(() => runPlatformCheck(name, searchParams.get("turn")));
    if (pathname === "/large") return verdictOf(() => runLargeCheck(env.STORE));
    if (pathname === "/steady") {
      const id = env.STORE.idFromName(nameOf("steady", "session:steady"));
      return Response.json(await env.STORE.get(id).steady(Number(searchParams.get("ms"))));
    }
    return new Response("not found", { status: 404 });
  },
};

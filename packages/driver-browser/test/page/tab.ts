/** Runs in the browser: a page that works with a tab, as tests tell it to. */
import { type Log as LogPort, type Runtime, defineTool } from "@pawl/runtime";
import { foldLines } from "@pawl/runtime/driver";
import { stateHash } from "@pawl/sansio-core";
import { type OpenTab, type OpenTabOptions, openTab } from "../../src/index.ts";
import type { Change, Log } from "../seen.ts";
import { done } from "./shared.ts";

let tab: OpenTab;

/** When this tab began to write, and when it was told that another one does. */
export const changes: Change[] = [];
export const faults: string[] = [];

/** Whether the next step stands still here, with all that is in this tab, until the test answers. */
let standsStill = false;
export const standStill = (): void => {
  standsStill = true;
};
const stand = (): void => {
  if (!standsStill) return;
  standsStill = false;
  const request = new XMLHttpRequest();
  request.open("GET", "/stand-still", false);
  request.send();
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const work = defineTool<{ readonly steps: number; readonly ms: number }>({
  name: "work",
  durable: true,
  execute: async ({ steps, ms }, ctx) => {
    const counts: number[] = [];
    for (let i = 0; i < steps; i++) {
      const step = async (): Promise<number> => {
        await pause(ms);
        stand();
        return done(`step ${i}`);
      };
      counts.push(await ctx.run(`step ${i}`, step));
    }
    return counts;
  },
});

const nap = defineTool<{ readonly ms: number }>({
  name: "nap",
  durable: true,
  execute: async ({ ms }, ctx) => {
    await ctx.sleep(ms);
    return "awake";
  },
});

/** Says words, so many milliseconds apart; a run after a crash says them with its own number. */
const speak = defineTool<{ readonly words: number; readonly ms: number }>({
  name: "speak",
  durable: true,
  execute: ({ words, ms }, ctx) =>
    ctx.stream("words", async function* ({ attempt }) {
      for (let i = 0; i < words; i++) {
        await pause(ms);
        yield `${i}/${attempt} `;
      }
    }),
});

export const say = async (request: string, words: number, ms: number): Promise<unknown> => {
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.request(request, [{ label: "1", tool: "speak", args: { words, ms } }]);
  return reply?.output.outcome;
};

/** What a reader of a stream has, which drops what it is told to drop. */
export interface Read {
  kept: unknown[];
  /** Chunks that it was shown before they were on record. */
  early: number;
  resets: number;
  isOver: boolean;
}

/** Reads a stream in this tab, from a number on or from its beginning. */
export const readWords = (request: string, from?: number): Read => {
  const read: Read = { kept: [], early: 0, resets: 0, isOver: false };
  void (async () => {
    for await (const frame of tab.stream("session:s", `${request}:1`, {
      name: "words",
      ...(from !== undefined && { from }),
    })) {
      if (frame.type === "reset") {
        read.resets += 1;
        read.kept = read.kept.slice(0, frame.from);
        for (let i = 0; i < frame.keep; i++) delete read.kept[i];
      }
      if (frame.type !== "chunks") continue;
      read.kept.push(...frame.chunks);
      if (!frame.isRecorded) read.early += frame.chunks.length;
    }
    read.isOver = true;
  })();
  return read;
};
export const reads: { [name: string]: Read } = {};
export const beginReading = (name: string, request: string, from?: number): void => {
  reads[name] = readWords(request, from);
};

/** Its arguments are checked by a JSON Schema. */
const greet = defineTool({
  name: "greet",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", pattern: "^[a-z]+$", maxLength: 9 },
      at: { type: "string", format: "date-time" },
    },
    required: ["name"],
    additionalProperties: false,
  },
  execute: ({ name }) => `hello, ${name}`,
});

export const greeting = async (request: string, args: { readonly [name: string]: string }): Promise<unknown> => {
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.request(request, [{ label: request, tool: "greet", args }]);
  return reply?.output.outcome;
};

/** Returns what a nap came to, and how long it took by the clock of the machine that ran on all the time. */
export const takeNap = async (request: string, ms: number): Promise<unknown> => {
  const from = performance.now();
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.request(request, [{ label: request, tool: "nap", args: { ms } }]);
  return { outcome: reply?.output.outcome, took: performance.now() - from };
};

/** The machine was asleep for so long: the wall clock went on, and nothing else. */
export const sleep = (ms: number): void => {
  const { now } = Date;
  Date.now = () => now() + ms;
};

/** Naps that have come to their end. */
export const awake: string[] = [];
export const begin = (request: string, ms: number): void => void takeNap(request, ms).then(() => awake.push(request));

/** As a browser treats a tab that nobody sees: its timers run once a minute, when the test calls what this gives. */
export const throttle = (): void => {
  const timers = new Map<number, { readonly at: number; readonly ring: () => void }>();
  const clock = performance.now.bind(performance);
  let [minutes, ids] = [0, 0];
  performance.now = () => clock() + minutes * 60_000;
  const wall = Date.now;
  Date.now = () => wall() + minutes * 60_000;
  const set = (then: () => void, ms = 0): number => {
    ids -= 1;
    timers.set(ids, { at: performance.now() + ms, ring: then });
    return ids;
  };
  const clear = globalThis.clearTimeout;
  Object.assign(globalThis, {
    setTimeout: set,
    clearTimeout: (id: number) => void (timers.delete(id) || clear(id)),
    wakeUp: () => {
      minutes += 1;
      for (const [id, { at, ring }] of timers) if (at <= performance.now() && timers.delete(id)) ring();
    },
  });
};

/** Which tab said that it is there, each time that it did. */
export const beats: string[] = [];

export const open = async (name: string, beatMs: number): Promise<void> => {
  new BroadcastChannel(`pawl ${name}`).addEventListener("message", ({ data }) => {
    if (data.type === "beat") beats.push(data.writer);
  });
  tab = await openTab({
    name,
    tools: [work, nap, greet, speak],
    beatMs,
    host: { fault: (what, thrown) => void faults.push(`${what}: ${String(thrown)}`) },
    changed: (runtime: Runtime | undefined) => void changes.push({ at: Date.now(), isWriting: runtime !== undefined }),
  });
};

const wrong = defineTool({
  name: "wrong",
  execute: () => {
    throw new TypeError("what nobody is shown");
  },
});

/** A tool throws in a tab of its own: gives what that was logged as, where the tab has a log. */
export const throwing = async (name: string, isLogged: boolean): Promise<readonly string[]> => {
  const logged: string[] = [];
  const log: LogPort = ({ name: event, thrown }) => void logged.push(`${event}: ${String(thrown)}`);
  const own = await openTab({ name, tools: [wrong], ...(isLogged && { log }) });
  const session = await (await own.runtime()).session("s");
  await session.request("r", [{ label: "c", tool: "wrong", args: {} }]);
  await own.close();
  return logged.filter((entry) => entry.includes("Error"));
};

/** Returns what a name is refused for that no scope has. */
export const followed = (scope: string): Promise<unknown> =>
  tab
    .follow(scope, 0, AbortSignal.timeout(2000))
    .next()
    .then(({ value }) => (value === undefined ? "nothing" : "an event"), String);

/** Returns what a tab is refused for that is opened so, and whether a database was made. */
export const refused = async (name: string, options: Partial<OpenTabOptions>): Promise<unknown> => {
  const code = await openTab({ name, tools: [nap], ...options }).then(
    () => "opened",
    (thrown: unknown) => (thrown as { readonly code?: string }).code,
  );
  const made = (await indexedDB.databases()).some((database) => database.name === name);
  return { code, made };
};
export const refusedTwice = (name: string): Promise<unknown> => refused(name, { tools: [nap, nap] });

/** Opens a tab that is closed as soon as it may write; says what it told of itself. */
export const openBriefly = async (name: string): Promise<readonly string[]> => {
  const told: string[] = [];
  const log: LogPort = ({ level, fields, thrown }) =>
    void (level === "error" && told.push(`${JSON.stringify(fields)}: ${String(thrown)}`));
  const brief = await openTab({ name, tools: [nap], log });
  await brief.runtime();
  await brief.close();
  await pause(100);
  return told;
};

export const isWriting = (): boolean => tab.isWriting;
export const close = (): Promise<void> => tab.close();

/** Returns what a call of so many steps came to. */
export const call = async (request: string, steps: number, ms: number): Promise<unknown> => {
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.request(request, [{ label: request, tool: "work", args: { steps, ms } }]);
  return reply?.output.outcome;
};

/** Returns what a request came to that any tab has made. */
export const replies = async (request: string): Promise<unknown> => {
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.replies(request);
  return reply?.output.outcome;
};

/** The sequences that were seen so far by following from the start. */
export const seen: number[] = [];
export const types: string[] = [];
export const watch = async (): Promise<void> => {
  for await (const { seq, event } of tab.follow("session:s", 0, new AbortController().signal)) {
    seen.push(seq);
    types.push(event.type);
  }
};

export const log = async (): Promise<Log> => {
  const lines = await tab.journal.read("session:s", 1);
  const check = await tab.journal.verify("session:s");
  return {
    seqs: lines.map(({ seq }) => seq),
    lines: lines.map(({ line }) => line),
    hash: stateHash(foldLines("session:s", lines)),
    check: check?.type,
  };
};

/** Does what a strict policy keeps a page from, and says whether it did. */
export const forbidden = (): string => {
  try {
    return String(new Function("return 'it ran'")());
  } catch (thrown) {
    return thrown instanceof Error ? thrown.name : String(thrown);
  }
};

/** Runs in the browser: large values beside the log, and what becomes of a tab whose browser does not store. */
import { type BlobCheck, blobChecks } from "@pawl/testkit";
import { defineTool, importLog, logText } from "@pawl/runtime";
import { sweepBlobs } from "@pawl/runtime/driver";
import {
  BrowserJournalError,
  type BrowserJournalOptions,
  type OpenTab,
  openBrowserJournal,
  openTab,
} from "../../src/index.ts";
import { noise, wrongIn } from "./shared.ts";

let databases = 0;

const blobsOf = (of: BrowserJournalOptions) => async () => (await openBrowserJournal(of)).blobs;

/** Returns what is wrong with a check, if anything is. */
export const run = async (name: string): Promise<string | undefined> => {
  const check = blobChecks.find((one) => one.name === name) as BlobCheck;
  databases += 1;
  return wrongIn((of, pass) => check.run({ open: blobsOf(of), pass }), `blobs-${databases}`);
};

const large = defineTool<{ readonly size: number }>({
  name: "large",
  durable: true,
  execute: ({ size }, ctx) => ctx.run("make", () => noise(size)),
});

const draws = defineTool({
  name: "draws",
  execute: async (_, ctx) =>
    (await ctx.attachments.put(new Uint8Array([1, 2, 3]), { media_type: { kind: "file", type: "image/x-test" } })).id,
});

const waits = defineTool({ name: "waits", durable: true, execute: (_, ctx) => ctx.waitFor("never") });

let tab: OpenTab;
export const faults: string[] = [];
/** Whether the tab writes, each time it was told. */
export const changes: boolean[] = [];

const codeOf = (thrown: unknown): string =>
  thrown instanceof BrowserJournalError ? thrown.code : `not typed: ${String(thrown)}`;

/** `opened`, or the code that it is refused with. */
export const open = async (name: string): Promise<string> => {
  try {
    tab = await openTab({
      name,
      tools: [large, draws, waits],
      host: { fault: (what, thrown) => void faults.push(`${what}: ${codeOf(thrown)}`) },
      changed: (runtime) => void changes.push(runtime !== undefined),
    });
    return "opened";
  } catch (thrown) {
    return codeOf(thrown);
  }
};

export const close = (): Promise<void> => tab.close();

/** The text that a call came to, or why it came to none. */
export const call = async (request: string, size: number): Promise<string> => {
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.request(request, [{ label: "c", tool: "large", args: { size } }]);
  return JSON.stringify(reply?.output.outcome);
};

let ended: Promise<string>;

/** Makes a call that waits for ever, and returns when it is on disk. */
export const wait = async (): Promise<void> => {
  const session = await (await tab.runtime()).session("waiting");
  ended = session.request("r", [{ label: "c", tool: "waits", args: {} }]).then(
    () => "replied",
    (thrown: unknown) => String((thrown as { readonly code?: string }).code),
  );
  await session.approvals(); // Answered once all before it is durable.
};
export const waitEnded = (): Promise<string> => ended;

/** Returns what bytes a body has put, as another page finds them by what the call came to. */
export const draw = async (request: string): Promise<string> => {
  const session = await (await tab.runtime()).session("s");
  const [reply] = await session.request(request, [{ label: "d", tool: "draws", args: {} }]);
  return String(reply?.output.outcome.payload);
};
export const bytesOf = async (id: string): Promise<readonly number[]> => [...((await tab.attachments.bytes(id)) ?? [])];

export const lengthsOf = async (): Promise<{ readonly longest: number; readonly blobs: number }> => {
  const lines = await tab.journal.read("session:s", 1);
  const blobs = (await tab.journal.blobs?.old(0)) ?? [];
  return { longest: Math.max(...lines.map(({ line }) => line.length)), blobs: blobs.length };
};

/** The log as a file, as a person would carry it elsewhere. */
export const saved = async (): Promise<string> => ((await logText(tab.journal, "session:s")) ?? []).join("");

/** Takes such a file in; says what it comes to, or why it is not taken. */
export const takeIn = async (text: string): Promise<string> => {
  await tab.runtime();
  return importLog(tab.journal, "a file", [text]).then(
    ({ scope }) => scope.id,
    (thrown: unknown) => String((thrown as { readonly code?: string }).code),
  );
};

/** Returns what is swept away beside one blob that nobody names. */
export const sweep = async (): Promise<readonly string[]> => {
  await tab.journal.blobs?.put("session:s", "f".repeat(64), new Uint8Array(9));
  return (await sweepBlobs(tab.journal, { graceMs: 0 })).removed;
};

/** How this tab is refused what it asks for: its runtime, and its log. */
export const refusals = async (): Promise<readonly string[]> => {
  const follow = async (): Promise<unknown> => {
    for await (const _ of tab.follow("session:s", 10_000, new AbortController().signal));
    return "ended";
  };
  const runtime = tab.runtime().then(() => "a runtime", codeOf);
  return Promise.all([
    runtime,
    tab.journal.read("session:s", 1).then(() => "lines", codeOf),
    follow().catch(codeOf),
  ]) as Promise<readonly string[]>;
};

/** Stores of each version, as they were when it was the newest: what is written here is not to follow the driver. */
const storesOf: readonly (readonly [
  name: string,
  keyPath?: string | readonly string[],
  index?: readonly [string, string | readonly string[]],
])[][] = [
  [
    ["scope", "name", ["wake", "wakeAt"]],
    ["append", ["scope", "last"], ["id", ["scope", "appendId"]]],
    ["kept", ["scope", "seq"]],
    ["finished"],
    ["letter", ["to", "from", "kind", "link", "number"]],
    ["lease", "instance"],
    ["snapshot"],
    ["segment"],
    ["count"],
  ],
  [["moved"], ["secret"], ["root"]],
];

const answered = <A>(request: IDBRequest<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("it failed")));
  });

const makeVersion = async (name: string, version: number): Promise<IDBDatabase> => {
  const request = indexedDB.open(name, version);
  request.addEventListener("upgradeneeded", () => {
    for (const [store, keyPath, index] of storesOf.slice(0, version).flat()) {
      const made = request.result.createObjectStore(store, keyPath === undefined ? {} : { keyPath: keyPath as string });
      if (index !== undefined) made.createIndex(index[0], index[1] as string);
    }
  });
  return answered(request);
};

/** Makes a database as an older driver left it, with the rows that it would have of another one. */
export const copyAs = async (from: string, to: string, version: number): Promise<void> => {
  const source = await answered(indexedDB.open(from));
  const target = await makeVersion(to, version);
  for (const [store, keyPath] of storesOf.slice(0, version).flat()) {
    const [keys, rows] = await Promise.all([
      answered(source.transaction(store).objectStore(store).getAllKeys()),
      answered(source.transaction(store).objectStore(store).getAll()),
    ]);
    const at = target.transaction(store, "readwrite").objectStore(store);
    for (const [i, row] of rows.entries())
      await answered(keyPath === undefined ? at.put(row, keys[i] as IDBValidKey) : at.put(row));
  }
  source.close();
  target.close();
};

/** Holds an older version open; it lets go when it is told to only if it is polite. */
export const hold = async (name: string, version: number, isPolite: boolean): Promise<void> => {
  const held = await makeVersion(name, version);
  if (isPolite) held.addEventListener("versionchange", () => held.close());
  else Object.assign(globalThis, { letGo: () => held.close() });
};
/** A database that is something else's, of any version, with a row in it. */
export const makeOther = async (name: string, version: number): Promise<void> => {
  const request = indexedDB.open(name, version);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore("note").put("milk", "today"));
  (await answered(request)).close();
};
/** Returns what stands in it, and of which version it is. */
export const otherNow = async (name: string): Promise<unknown> => {
  const other = await answered(indexedDB.open(name));
  const row: unknown = await answered(other.transaction("note").objectStore("note").get("today"));
  other.close();
  return { row, version: other.version, stores: [...other.objectStoreNames] };
};
/** The page's own code deletes the journal that is open. */
export const remove = async (name: string): Promise<void> => void (await answered(indexedDB.deleteDatabase(name)));

/** A newer page makes the database newer. */
export const upgradeTo = async (name: string, version: number): Promise<void> => {
  (await answered(indexedDB.open(name, version))).close();
};

const { put } = IDBObjectStore.prototype;

/** Has no room for large values any more, as a browser says it, or has again. */
export const fillUp = (isFull: boolean): void => {
  IDBObjectStore.prototype.put = function (this: IDBObjectStore, ...of) {
    if (isFull && this.name === "blob") throw new DOMException("The disk is full", "QuotaExceededError");
    return put.apply(this, of);
  };
};

/** As browsers behave that keep pages from storing. */
export const patch = (how: "throws" | "refuses" | "private" | "null"): void => {
  const real = indexedDB;
  const failing = (name: string) => ({
    open: () => {
      const request = real.open("never");
      request.addEventListener("success", (event) => {
        event.stopImmediatePropagation();
        Object.defineProperty(request, "error", { value: new DOMException("not allowed here", name) });
        request.dispatchEvent(new Event("error"));
      });
      return request;
    },
  });
  const there = {
    throws: {
      get: () => {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    },
    refuses: { value: failing("SecurityError") },
    private: { value: failing("InvalidStateError") },
    null: { value: null },
  };
  Object.defineProperty(globalThis, "indexedDB", there[how]);
};

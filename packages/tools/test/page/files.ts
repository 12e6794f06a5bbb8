/** The part of the test that runs in the browser: it executes operations on files in IndexedDB. */
import { FileError, type FileStore } from "../../src/index.ts";
import { BrowserFiles } from "../../src/browser/index.ts";

const stores = new Map<string, BrowserFiles>();

/** Bytes travel as lists of numbers. */
interface Sent {
  readonly bytes: readonly number[];
}
const isSent = (value: unknown): value is Sent => typeof value === "object" && value !== null && "bytes" in value;

const received = (value: unknown): unknown => {
  if (isSent(value)) return Uint8Array.from(value.bytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, received(one)]));
};

const toSend = (value: unknown): unknown => (value instanceof Uint8Array ? { bytes: [...value] } : value);

const sent = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toSend(one)]))
    : value;

/** Returns the answer of the store, or its error. */
export const ask = async (name: string, method: keyof FileStore, of: readonly unknown[]): Promise<unknown> => {
  const store = stores.get(name) ?? (await BrowserFiles.open(name));
  stores.set(name, store);
  try {
    const call = store[method].bind(store) as (...args: unknown[]) => Promise<unknown>;
    return { value: sent(await call(...of.map(received))) };
  } catch (thrown) {
    if (thrown instanceof FileError) return { kind: thrown.kind, message: thrown.message };
    throw thrown;
  }
};

/** Opens the store again, as another tab would. */
export const forget = (name: string): void => {
  stores.get(name)?.close();
  stores.delete(name);
};

/** Opens a store over a foreign database; returns the error and the content of the database. */
export const overOther = async (name: string, version: number): Promise<unknown> => {
  const made = indexedDB.open(name, version);
  made.addEventListener("upgradeneeded", () => made.result.createObjectStore("note"));
  await new Promise((resolve) => made.addEventListener("success", resolve));
  made.result.close();
  const said = await BrowserFiles.open(name).then(() => "opened", String);
  const again = indexedDB.open(name);
  await new Promise((resolve) => again.addEventListener("success", resolve));
  return { said, version: again.result.version, stores: [...again.result.objectStoreNames] };
};

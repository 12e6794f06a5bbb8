/** Files that share a process leave it as they found it: what one of them changes, the next would see. */
import * as fc from "fast-check";
import { afterAll, expect, vi } from "vitest";

/** Makes a red run one that can be run again. `PAWL_SEED` asks for other cases. */
fc.configureGlobal({ seed: Number(process.env["PAWL_SEED"] ?? 1) });

type Look = { readonly [name: string]: unknown };

const events = ["beforeExit", "exit", "warning", "uncaughtException", "unhandledRejection", "SIGINT", "SIGTERM"];

/** What tests have reason to patch. */
const patched: { readonly [name: string]: object } = {
  globalThis,
  console,
  performance,
  Date,
  Math,
  JSON,
  "Object.prototype": Object.prototype,
  "Array.prototype": Array.prototype,
  "Promise.prototype": Promise.prototype,
};

/**
 * Leaves out the getters: Node puts a value in the place of most of them when they are first read. Leaves out names that
 * begin with two underscores or a dollar, which libraries give to what they keep once per process.
 */
const membersOf = (name: string, of: object): Look =>
  Object.fromEntries(
    Object.entries(Object.getOwnPropertyDescriptors(of)).flatMap(([key, { value, get }]) =>
      get === undefined && !/^(?:__|\$)/.test(key) ? [[`${name}.${key}`, value as unknown]] : [],
    ),
  );

const look = (): Look => ({
  "the working directory": process.cwd(),
  "the clock": vi.isFakeTimers() ? "fake" : "real",
  ...Object.fromEntries(events.map((event) => [`listeners of ${event}`, process.listenerCount(event)])),
  ...Object.fromEntries(Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value])),
  ...Object.assign({}, ...Object.entries(patched).map(([name, of]) => membersOf(name, of))),
});

const getters = new Set(
  Object.entries(patched).flatMap(([name, of]) =>
    Object.entries(Object.getOwnPropertyDescriptors(of)).flatMap(([key, { get }]) =>
      get === undefined ? [] : [`${name}.${key}`],
    ),
  ),
);
const before = look();

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  const after = look();
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !getters.has(name) && !Object.is(before[name], after[name]));
  expect(changed, "the file leaves this changed in its process").toEqual([]);
});

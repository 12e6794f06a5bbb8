/** The part of the tests that runs in the browser: an inspector, and the functions that tests call. */
import { type Observed, defineInspector, engineOf, observedSource, sessionSource, textSource } from "../src/index.ts";
import type { PawlInspector } from "../src/view/element.ts";
import { browserPlatform } from "../../driver-browser/src/platform.ts";
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import { EventCodec, recordedOf } from "@pawl/sansio-core";
import { type Json, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

defineInspector();
const inspector = document.querySelector<PawlInspector>("pawl-inspector") as PawlInspector;

/** The tools of the log `trip`, for forks that continue. */
const tools = [
  defineTool({
    name: "trip",
    durable: true,
    execute: async (args, ctx) => {
      const seat = await ctx.run("reserve", () => "12A");
      return ((input) => ctx.run("charge", () => ({ charged: input }), { input }))({ seat, ...(args as object) });
    },
  }),
];

inspector.configure({
  worker: () => new Worker("/worker.js", { type: "module" }),
  engine: engineOf({ tools, platform: browserPlatform }),
});

/** Opens a log; returns the time to the first paint and to the whole log. */
const open = async (name: string, text: string): Promise<{ readonly painted: number; readonly whole: number }> => {
  const start = performance.now();
  const opened = inspector.open(textSource(name, text));
  const until = (done: () => boolean): Promise<number> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (done()) resolve(performance.now() - start);
        else requestAnimationFrame(look);
      };
      look();
    });
  const painted = await until(() => inspector.shadowRoot?.querySelector(".event-head") !== null);
  await opened;
  return { painted, whole: await until(() => inspector.place.isDone) };
};

/** Scrubs over the whole log for a number of frames; returns the time of each. */
const scrub = async (frames: number): Promise<readonly number[]> => {
  const { last } = inspector.place;
  const times: number[] = [];
  let before = performance.now();
  for (let n = 0; n < frames; n++) {
    inspector.goTo(1 + (Math.floor((n * 7919 * last) / frames) % last));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  return times;
};

/** Does nothing for a number of frames; returns the time of each. */
const rest = async (frames: number): Promise<readonly number[]> => {
  const times: number[] = [];
  let before = performance.now();
  for (let n = 0; n < frames; n++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  return times;
};

/** Inspects a session of this page, and starts a trip in it with a note of a given length. */
const live = async (characters = 0): Promise<void> => {
  const roots = { newest: { kid: "k", secret: new Uint8Array(32) } };
  const runtime = new Runtime({ journal: memoryJournal(), platform: browserPlatform, tools, instance: "page", roots });
  const session = await runtime.session("live");
  void inspector.open(sessionSource(session, new AbortController().signal));
  await session.request("r", [{ label: "c", tool: "trip", args: { note: "n".repeat(characters) } }]);
};

/** Opens a source that observes these lines from a host, and may fail at the end. */
const observed = (scope: string, lines: readonly string[], end = ""): void => {
  const observing = async function* (): AsyncGenerator<Observed> {
    for (const line of lines) {
      const json = parse(line, noLimits);
      const recorded = E.isLeft(json) ? json : recordedOf(json.right);
      if (E.isLeft(recorded)) throw new Error(recorded.left.message);
      const { seq, at, event } = recorded.right;
      yield { cursor: seq, at, event: EventCodec.encode(event) as Json };
    }
    if (end !== "") throw new Error(end);
  };
  void inspector.open(observedSource(scope, observing()));
};

/** Drops a file on the inspector. */
const drop = (name: string, text: string): void => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  inspector.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
};

/** Finds the events whose lines contain these words. */
const lines = async (query: string): Promise<readonly number[]> => (await inspector.search(query)) ?? [];
const forkText = (): Promise<string> => inspector.text("fork");

Object.assign(globalThis, { inspect: { open, rest, scrub, inspector, lines, forkText, live, observed, drop } });

/** Runs in the browser: the checks of all journals, and what tests of this one do in a tab. */
import { type JournalCheck, type PlatformCheck, journalChecks, moveChecks, platformChecks } from "@pawl/testkit";
import { Runtime, defineTool } from "@pawl/runtime";
import {
  BrowserJournalError,
  type BrowserJournalOptions,
  browserPlatform,
  openBrowserJournal,
} from "../../src/index.ts";
import { done, noise, wrongIn } from "./shared.ts";

const checks = [...journalChecks, ...moveChecks];

let databases = 0;

const journalOf = (of: BrowserJournalOptions) => (room?: number) =>
  openBrowserJournal({ ...of, ...(room !== undefined && { room }) });

/** Runs a check of the browser's platform. Returns why it failed. */
export const runPlatform = async (name: string): Promise<string | undefined> => {
  const check = platformChecks.find((one) => one.name === name) as PlatformCheck;
  return check.run(browserPlatform).then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  );
};

/** Returns what is wrong with a check, if anything is. */
export const run = async (name: string): Promise<string | undefined> => {
  const check = checks.find((one) => one.name === name) as JournalCheck;
  databases += 1;
  return wrongIn((of, pass) => check.run({ open: journalOf(of), pass }), `journal-${databases}`);
};

const lineOf = (seq: number, size: number): string => `{"seq":${seq},"value":${JSON.stringify(noise(size))}}\n`;

/** Appends lines of so many characters, one after the other, and tells of each when it is acknowledged. */
export const fill = async (options: BrowserJournalOptions, count: number, size: number): Promise<readonly string[]> => {
  const journal = await openBrowserJournal(options);
  const claim = await journal.claim("s", "tab", 1);
  if (claim.type !== "claimed") throw new Error(`s is ${claim.type}`);
  const results: string[] = [];
  for (let seq = claim.seq + 1; seq <= claim.seq + count; seq++) {
    const lines = [{ seq, line: lineOf(seq, size) }];
    const of = { finished: [], wakeAt: undefined, protocol: 1, messages: [], received: [] };
    const [result] = await journal.appendAll([
      { scope: "s", epoch: claim.epoch, expectedSeq: seq, appendId: `${seq}`, lines, ...of },
    ]);
    results.push(result?.type ?? "nothing");
    document.title = String(seq);
    if (result?.type !== "ok") break;
  }
  journal.close();
  return results;
};

export const seqsIn = async (options: BrowserJournalOptions): Promise<readonly number[]> => {
  const journal = await openBrowserJournal(options);
  const seqs = (await journal.read("s", 1)).map(({ seq }) => seq);
  const check = await journal.verify("s");
  journal.close();
  if (check !== undefined && check.type !== "whole") throw new Error(JSON.stringify(check));
  return seqs;
};

/** The code that opening a journal is refused with. */
export const refusal = async (options: BrowserJournalOptions): Promise<string> => {
  try {
    (await openBrowserJournal(options)).close();
    return "opened";
  } catch (thrown) {
    return thrown instanceof BrowserJournalError ? thrown.code : String(thrown);
  }
};

/** A database of this name, as another version of the driver would have it. */
export const openVersion = (name: string, version: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.addEventListener("success", () => resolve());
    request.addEventListener("error", () => reject(request.error ?? new Error("not opened")));
  });

/** Calls a tool of three steps, the second of which takes as long as it is told to. */
export const callTool = async (name: string, secondMs: number): Promise<unknown> => {
  const journal = await openBrowserJournal({ name });
  const work = defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const first = await ctx.run("first", () => done("first"));
      document.title = "first is done";
      await ctx.run("second", () => new Promise((resolve) => setTimeout(() => resolve(null), secondMs)));
      return [first, await ctx.run("third", () => done("third"))];
    },
  });
  const roots = { newest: { kid: "k", secret: new Uint8Array(32) } };
  const instance = `tab:${crypto.randomUUID()}`;
  const runtime = new Runtime({ journal, platform: browserPlatform, tools: [work], instance, roots });
  const session = await runtime.session("s");
  const [reply] = await session.request("r", [{ label: "c", tool: "work", args: {} }]);
  return reply?.output.outcome;
};

/** Returns what becomes of a tab's writes when another one has taken the fence, in a scope that nobody claimed since. */
export const writeSuperseded = async (name: string): Promise<readonly unknown[]> => {
  const [first, second] = [await openBrowserJournal({ name }), await openBrowserJournal({ name })];
  await first.takeFence();
  const claim = await first.claim("s", "first", 1);
  await second.takeFence();
  const of = { finished: [], wakeAt: undefined, protocol: 1, messages: [], received: [] };
  const append = { scope: "s", epoch: 1, expectedSeq: 1, appendId: "1:1", lines: [{ seq: 1, line: "{}\n" }], ...of };
  const [late] = await first.appendAll([append]);
  const refused = await first.claim("s", "first", 1).catch((thrown: unknown) => thrown);
  const lines = await second.read("s", 1);
  const [next] = await second.appendAll([append]);
  first.close();
  second.close();
  return [claim.type, late?.type, refused instanceof BrowserJournalError && refused.code, lines.length, next?.type];
};

/** Runs all checks of journals, one after the other. Returns how many there are, and what failed. */
export const runAll = async (): Promise<{ readonly count: number; readonly failed: readonly string[] }> => {
  const failed: string[] = [];
  for (const { name } of checks) {
    const wrong = await run(name);
    if (wrong !== undefined) failed.push(`${name}: ${wrong}`);
  }
  for (const { name } of platformChecks) {
    const wrong = await runPlatform(name);
    if (wrong !== undefined) failed.push(`${name}: ${wrong}`);
  }
  return { count: checks.length + platformChecks.length, failed };
};

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Session, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";
import { beforeAll, describe, expect, it } from "vitest";
import { openRuntime } from "@pawl/driver-node";
import { checkUpgrade } from "../src/upgrade/check.ts";
import { type Verdict, verdictWords } from "../src/upgrade/verdict.ts";
import { linesOf, madeJournal, newFolder, tools, work } from "./fixture.ts";
import { jsonIn, pawl, pawlProcess } from "./pawl.ts";
import { until } from "../../driver-node/test/until.ts";

const folder = newFolder();
let file = "";
let log: readonly string[] = [];
beforeAll(async () => {
  file = await madeJournal(folder);
  const { out } = await pawl(["log", "export", `${file}#waiting`]);
  log = out.split(/(?<=\n)/);
});

const patienceMs = 60;
let sideEffects = 0;

/** Returns the verdict on the waiting call if its tool had this body. */
const verdictOf = async (execute: ToolDefinition["execute"], more: Partial<ToolDefinition> = {}): Promise<Verdict> => {
  sideEffects = 0;
  const tool = defineTool({ name: "work", durable: true, execute, ...more });
  const { calls, fault } = await checkUpgrade(log, [tool], patienceMs);
  expect(fault).toBeUndefined();
  expect(calls).toHaveLength(1);
  expect(sideEffects).toBe(0);
  return calls[0]?.verdict as Verdict;
};

const count = (): string => {
  sideEffects += 1;
  return "done again";
};

describe("a live call under other code", () => {
  it("is the same if the code makes the same requests, whatever it does later", async () => {
    const verdict = await verdictOf(async (_, ctx) => {
      const seat = await ctx.run("reserve", count, { input: { to: "Lviv" } });
      await ctx.waitFor("approved");
      return ctx.run("refund", count, { input: { seat } });
    });
    expect(verdict).toEqual({ type: "same", requests: 2 });
  });

  it("has a new effect if another request replaces a recorded one", async () => {
    const verdict = await verdictOf(async (_, ctx) => {
      await ctx.run("check", count);
      await ctx.run("reserve", count, { input: { to: "Lviv" } });
      return ctx.waitFor("approved");
    });
    expect(verdict).toMatchObject({ type: "new_effect", position: 1, expected: "durable-step:reserve" });
    expect(verdict).toMatchObject({ found: "step `durable-step:check`" });
  });

  it("has other input if a step is requested with other arguments", async () => {
    const verdict = await verdictOf(async (_, ctx) => {
      await ctx.run("reserve", count, { input: { to: "Kyiv" } });
      return ctx.waitFor("approved");
    });
    expect(verdict).toMatchObject({ type: "other_input", position: 1 });
    expect(verdictWords(verdict)).toBe(
      'other input at request 1: step `durable-step:reserve` was recorded with {"to":"Lviv"}, and is now requested with {"to":"Kyiv"}; they differ at /to',
    );
  });

  it("misses an effect if the code ends, or waits, without requesting it", async () => {
    expect(await verdictOf(async (_, ctx) => ctx.run("reserve", count, { input: { to: "Lviv" } }))).toMatchObject({
      type: "missing_effect",
      position: 1,
      missing: [expect.stringContaining("await-event:")],
    });
    const both = await verdictOf(async (_, ctx) => ctx.waitFor("approved"));
    expect(both).toMatchObject({ type: "missing_effect", missing: ["durable-step:reserve"] });
  });

  it("waits outside if the code waits for something outside its context", async () => {
    const before = await verdictOf(async (_, ctx) => {
      await ctx.run("reserve", count, { input: { to: "Lviv" } });
      await new Promise(() => undefined);
    });
    expect(before).toMatchObject({ type: "waits_outside", isDiverged: true });
  });

  it("goes on if the code makes further requests", async () => {
    const verdict = await verdictOf(async (_, ctx) => {
      await ctx.run("reserve", count, { input: { to: "Lviv" } });
      return Promise.all([ctx.waitFor("approved"), ctx.run("remind", count)]);
    });
    expect(verdict).toEqual({ type: "goes_on", requests: 2, next: ["durable-step:remind"] });
  });

  it("needs its tool, and arguments that fit", async () => {
    const schema = { type: "object", required: ["to"] };
    expect(await verdictOf(async () => 1, { inputSchema: schema })).toMatchObject({ type: "args_refused" });
    const { calls } = await checkUpgrade(log, [defineTool({ name: "other", execute: () => 1 })], patienceMs);
    expect(calls[0]?.verdict).toEqual({ type: "no_tool", toolId: "tool:work" });
  });

  it("completes if the code makes all recorded requests and ends", async () => {
    const verdict = await verdictOf(async (_, ctx) => {
      void ctx.waitFor("approved").catch(() => undefined); // Requested and not awaited.
      return ctx.run("reserve", count, { input: { to: "Lviv" } });
    });
    expect(verdict).toEqual({ type: "completes", requests: 2 });
  });

  it("is not run again if its tool is owner-bound, and has not started if it awaits approval", async () => {
    const bound = defineTool({ name: "bound", execute: (_, ctx) => ctx.waitFor("never") });
    const at = join(folder, "bound.db");
    const { runtime, close } = openRuntime({ file: at, tools: [bound, ...tools] });
    const session = await runtime.session("s");
    const calls = ["bound", "guarded"].map((tool) => ({ label: tool, tool, args: {} }));
    void session.request("r", calls).catch(() => undefined); // Nobody waits for it here.
    const isThere = (): boolean =>
      session.state.waits.size === 1 && session.state.calls.at("r:guarded")?.phase === "awaiting_approval";
    for (let i = 0; i < 400 && !isThere(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    await session.runner.whenDurable();
    await close();
    const { out } = await pawl(["log", "export", `${at}#s`]);
    const checked = await checkUpgrade(out.split(/(?<=\n)/), [bound, ...tools], patienceMs);
    expect(checked.calls).toMatchObject([
      { call: "r:bound", verdict: { type: "not_rerun", recovery: "owner_bound" } },
      { call: "r:guarded", verdict: { type: "not_started", phase: "awaiting_approval", isBegun: false } },
    ]);
  });

  it("fails if the code throws an internal error", async () => {
    const verdict = await verdictOf(async (_, ctx) => {
      void ctx.waitFor("approved").catch(() => undefined); // Requested and not awaited.
      await ctx.run("reserve", count, { input: { to: "Lviv" } });
      throw new TypeError("of its own");
    });
    expect(verdict).toEqual({ type: "failed", message: "of its own" });
  });

  it("reports the error that keeps the code from a recorded request", async () => {
    const verdict = await verdictOf(async () => {
      throw new TypeError("no MODEL_KEY");
    });
    expect(verdict).toMatchObject({ type: "missing_effect", position: 0, thrown: "no MODEL_KEY" });
    expect(verdictWords(verdict)).toContain("missing effect after request 0: it throws no MODEL_KEY; durable-step:");
  });
});

const outside = defineTool({ name: "outside", execute: (_, ctx) => (ctx.completionKey(), pending()) });

/** Returns the log of a session that calls these tools, once it meets a condition. */
const logOf = async (
  named: string,
  defined: readonly ToolDefinition[],
  called: readonly string[],
  isThere: (state: Session["state"]) => boolean,
): Promise<readonly string[]> => {
  const at = join(folder, `${named}.db`);
  const { runtime, close } = openRuntime({ file: at, tools: [...defined] });
  const session = await runtime.session("s");
  const calls = called.map((tool) => ({ label: tool, tool, args: {} }));
  void session.request("r", calls).catch(() => undefined); // Nobody waits for it here.
  await until(() => isThere(session.state));
  await session.runner.whenDurable();
  await close();
  const { out } = await pawl(["log", "export", `${at}#s`]);
  return out.split(/(?<=\n)/);
};

const asks = (ask: (ctx: ToolContext) => Promise<unknown>): ToolDefinition =>
  defineTool({ name: "asks", durable: true, execute: async (_, ctx) => void (await ask(ctx)) });

const hasAsked = ({ calls }: Session["state"]): boolean => {
  const row = calls.at("r:asks");
  return row !== undefined && "body" in row && (row.body?.open.length ?? 0) > 0;
};

const ofBatch = (id: string): ToolDefinition =>
  asks((ctx) => ctx.callAll([{ label: id, tool: "work", args: { n: 1 } }]));
const ofSleep = (ms: number): ToolDefinition => asks((ctx) => ctx.sleep(ms));

/** Returns the verdict's text for a call that one tool began and another continues. */
const saidOf = async (named: string, before: ToolDefinition, after: ToolDefinition): Promise<string> => {
  const begun = await logOf(named, [before, work], ["asks"], hasAsked);
  const { calls } = await checkUpgrade(begun, [after, work], patienceMs);
  return verdictWords(calls.find(({ tool }) => tool === "asks")?.verdict as Verdict);
};

const isOver = ({ calls }: Session["state"]): boolean =>
  calls.at("r:quick")?.phase === "completed" && calls.at("r:outside")?.phase === "pending";

describe("what is said of a call under other code", () => {
  it("shows the changed calls of a batch and the changed time of a sleep", async () => {
    expect(await saidOf("batch", ofBatch("old"), ofBatch("new"))).toMatch(
      /^new effect at request 1: found batch `[^`]+` \(new: tool:work \{"n":1\}\), expected \S+ \(old: tool:work \{"n":1\}\)$/,
    );
    expect(await saidOf("sleep", ofSleep(600_000), ofSleep(700_000))).toBe(
      "other input at request 1: sleep `sleep` was recorded with 600000 ms, and is now requested with 700000 ms; they differ at /ms",
    );
  });

  it("says that a body starts a new attempt, not that it never started", () => {
    const words = verdictWords({ type: "not_started", phase: "backing_off", isBegun: true });
    expect(words).toBe("nothing to compare: its body starts a new attempt (backing_off)");
  });

  it("says that a body has ended, or waits outside for its completion", async () => {
    const all = [outside, ...tools];
    const { calls } = await checkUpgrade(
      await logOf("over", all, ["quick", "outside", "work"], isOver),
      all,
      patienceMs,
    );
    expect(calls.map(({ tool, verdict }) => [tool, verdictWords(verdict)])).toEqual([
      ["quick", "nothing to compare: its body has ended (completed)"],
      ["outside", "nothing to compare: its body has ended (pending)"],
      ["work", expect.stringContaining("same: ")],
    ]);
  });
});

describe("a body that was evicted from memory", () => {
  it("is run again as if it had not been", async () => {
    const { runtime, close } = openRuntime({ file: join(folder, "suspended.db"), tools });
    const session = await runtime.session("s");
    void session.request("r", [{ label: "c", tool: "work", args: {} }]).catch(() => undefined); // Nobody waits for it here.
    for (let i = 0; i < 400 && session.state.calls.rows()[0]?.phase !== "suspended"; i++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(session.state.calls.rows()[0]?.phase).toBe("suspended");
    await session.runner.whenDurable();
    await close();
    const { out } = await pawl(["log", "export", `${join(folder, "suspended.db")}#s`]);
    const { calls } = await checkUpgrade(out.split(/(?<=\n)/), tools, patienceMs);
    expect(calls).toMatchObject([{ phase: "suspended", verdict: { type: "same", requests: 2 } }]);
  });
});

/** Writes a module whose tool has this body. */
const moduleOf = (name: string, body: string): string => {
  const path = join(folder, name);
  writeFileSync(
    path,
    `export const tools = [{ name: "work", durable: true, execute: async (_, ctx) => { ${body} } }];\n`,
  );
  return path;
};

describe("pawl check-upgrade", () => {
  const same = `await ctx.run("reserve", () => 1, { input: { to: "Lviv" } }); return ctx.waitFor("approved");`;

  it("says whether a log is safe and why not, and sets its exit code", async () => {
    const good = await pawlProcess(["check-upgrade", `${file}#waiting`, "--tools", moduleOf("good.mjs", same)]);
    expect([good.code, good.out]).toEqual([
      0,
      expect.stringContaining("same: it makes its 2 recorded requests, and waits"),
    ]);
    const bad = moduleOf("bad.mjs", `await ctx.run("other", () => 1);`);
    const said = await pawl(["check-upgrade", file, "--tools", bad, "--patience", "60", "--json"]);
    expect(said.code).toBe(1);
    const [done, parked, waiting] = jsonIn(said);
    expect(done).toMatchObject({ safe: true, calls: [] });
    expect(parked).toMatchObject({ safe: false, calls: [{ verdict: { type: "no_tool" } }] });
    expect(waiting).toMatchObject({
      safe: false,
      calls: [{ call: "r:c", verdict: { type: "new_effect", position: 1 } }],
    });
  });

  it("checks no bodies if the core itself diverges", async () => {
    const path = join(folder, "diverges.jsonl");
    writeFileSync(path, log.map((line, i) => (i === 3 ? line.replace('"work"', '"wrok"') : line)).join(""));
    const [found] = jsonIn(await pawl(["check-upgrade", path, "-t", moduleOf("fine.mjs", same), "--json"]));
    expect(found).toMatchObject({ safe: false, calls: [], fault: { code: "diverged", seq: 3 } });
  });

  it("needs a module that can be loaded and has tools", async () => {
    const empty = join(folder, "empty.mjs");
    writeFileSync(empty, "export const tools = [1];\n");
    expect(await pawl(["check-upgrade", file])).toMatchObject({ code: 2 });
    expect(await pawl(["check-upgrade", file, "-t", join(folder, "none.mjs")])).toMatchObject({ code: 3 });
    const { code, err } = await pawl(["check-upgrade", file, "-t", empty]);
    expect([code, err]).toEqual([2, expect.stringContaining("exports no tool at tools[0]")]);
  });

  it("does not change the journal", async () => {
    const before = await linesOf(file, "session:waiting");
    await pawl(["check-upgrade", file, "-t", moduleOf("again.mjs", same), "--patience", "60"]);
    expect(await linesOf(file, "session:waiting")).toEqual(before);
  });
});

const books = (execute: ToolDefinition["execute"]): ToolDefinition =>
  defineTool({ name: "books", durable: true, execute });
const older = books(async (_, ctx) => [await ctx.run("a", () => 1), await ctx.waitFor("go")]);
const younger = books(async (_, ctx) => {
  const a = await ctx.run("a", () => 1);
  const isPatched = ctx.patched("faster");
  return [a, isPatched, await ctx.waitFor("go")];
});

/** A journal with a call that this code has begun, and that waits. */
const begunBy = async (tool: ToolDefinition, upgrade: "auto" | "never" = "auto"): Promise<string> => {
  const path = join(newFolder(), "journal.db");
  const { runtime, close } = openRuntime({ file: path, tools: [tool], log: () => undefined, upgrade });
  const session = await runtime.session("s");
  void session.request("r", [{ label: "c", tool: "books", args: {} }]).catch(() => undefined); // Ends with its runtime.
  await until(() => session.state.waits.size === 1);
  await close();
  return path;
};
const checked = async (path: string): Promise<Awaited<ReturnType<typeof checkUpgrade>>> =>
  checkUpgrade((await pawl(["log", "export", `${path}#s`])).out.split(/(?<=\n)/), [younger], patienceMs);

describe("patches", () => {
  it("are needed while a live call is answered as older code has it", async () => {
    expect((await checked(await begunBy(older))).patches).toEqual([{ name: "faster", isNeeded: true }]);
    expect((await checked(await begunBy(younger))).patches).toEqual([{ name: "faster", isNeeded: false }]);
  });

  it("are needed by a call of protocol 1, whose scope has no patches before its upgrade", async () => {
    const { patches, calls } = await checked(await begunBy(older, "never"));
    expect(patches).toEqual([{ name: "faster", isNeeded: true }]);
    expect(calls).toMatchObject([{ verdict: { type: "same", requests: 2 } }]);
  });

  it("are known by their names: one that two tools ask for is needed while a call of either needs it", async () => {
    const other = defineTool({ ...younger, name: "others", id: "tool:others" });
    const path = join(newFolder(), "journal.db");
    const begin = async (tool: string): Promise<void> => {
      const { runtime, close } = openRuntime({ file: path, tools: [older, other], log: () => undefined });
      const session = await runtime.session("s");
      void session.request(tool, [{ label: "c", tool, args: {} }]).catch(() => undefined); // Ends with its runtime.
      await until(() => session.state.calls.at(`${tool}:c`)?.phase === "running" && session.state.waits.size > 0);
      await close();
    };
    await begin("books");
    await begin("others");
    const text = (await pawl(["log", "export", `${path}#s`])).out.split(/(?<=\n)/);
    expect((await checkUpgrade(text, [younger, other], patienceMs)).patches).toEqual([
      { name: "faster", isNeeded: true },
    ]);
  });

  it("are listed once no live log needs them", async () => {
    const [tool, path] = [join(newFolder(), "tools.mjs"), await begunBy(younger)];
    writeFileSync(
      tool,
      `export const tools = [{ name: "books", durable: true, execute: async (_, ctx) => {
        const a = await ctx.run("a", () => 1);
        return [a, ctx.patched("faster"), await ctx.waitFor("go")];
      } }];`,
    );
    const { out } = await pawl(["check-upgrade", path, "--tools", tool, "--patience", "60"]);
    expect(out).toContain("patches that no live log needs any more, whose older branch may be deleted: faster");
  });
});

describe("a log of an older protocol", () => {
  const waits = defineTool({ name: "books", durable: true, execute: async (_, ctx) => ctx.waitFor("go") });
  const isKept = "it keeps its keys in this life, and its clock in attempt 1";

  it("is told what its next opening changes for each live call", async () => {
    const path = await begunBy(waits, "never");
    const { upgrade } = await checkUpgrade(
      (await pawl(["log", "export", `${path}#s`])).out.split(/(?<=\n)/),
      [waits],
      patienceMs,
    );
    expect(upgrade).toMatchObject({ from: 1, to: 2, calls: [{ call: "r:c" }] });
    expect(upgrade?.calls[0]?.changes).toContain(isKept);
    const tool = join(newFolder(), "tools.mjs");
    writeFileSync(
      tool,
      'export const tools = [{ name: "books", durable: true, execute: (_, ctx) => ctx.waitFor("go") }];',
    );
    const { out } = await pawl(["check-upgrade", path, "--tools", tool, "--patience", "60"]);
    expect(out).toContain("of protocol 1: its next opening upgrades it to 2");
    expect(out).toContain(isKept);
  });

  it("is told nothing where it is of the newest", async () => {
    const path = await begunBy(waits);
    const { upgrade } = await checkUpgrade(
      (await pawl(["log", "export", `${path}#s`])).out.split(/(?<=\n)/),
      [waits],
      patienceMs,
    );
    expect(upgrade).toBeUndefined();
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ToolError, defineTool } from "@pawl/runtime";
import { stableHash } from "@pawl/tool-value";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Command } from "../src/command.ts";
import { allCommands } from "../src/run.ts";
import { screenOn } from "../src/terminal.ts";
import { barOf, progressIn } from "../src/scope/background.ts";
import { openRuntime } from "@pawl/driver-node";
import { madeJournal, newFolder, tools } from "./fixture.ts";
import { type With, jsonIn, pawl, pawlProcess } from "./pawl.ts";

let file = "";
beforeAll(async () => {
  file = await madeJournal(newFolder());
});

const coloured = (text: string): boolean => text.includes("\u001b[");

const commands = await allCommands();

describe("pawl ls, show and why", () => {
  it("list the scopes of a journal", async () => {
    const [found] = jsonIn(await pawl(["ls", file, "--json"]));
    const scopes = found?.["scopes"] as readonly { readonly scope: string; readonly seq: number }[] | undefined;
    expect(scopes?.map(({ scope, seq }) => [scope, seq])).toEqual([
      ["session:done", 5],
      ["session:parked", 4],
      ["session:waiting", 6],
    ]);
    expect((await pawl(["ls", file, "--prefix", "process:"])).out).toBe(`no scopes in ${file}\n`);
  });

  it("list unfinished work as due now, and a deadline by its time, before it has passed and after", async () => {
    const path = join(newFolder(), "journal.db");
    const sleeper = defineTool({ name: "sleeper", durable: true, execute: (_, ctx) => ctx.sleep(3_600_000) });
    const { runtime, close } = openRuntime({ file: path, tools: [sleeper], patience: { suspendMs: 1 } });
    const session = await runtime.session("asleep");
    void session.request("r", [{ label: "c", tool: "sleeper", args: null }]).catch(() => undefined); // Nobody waits.
    while (session.state.calls.rows()[0]?.phase !== "suspended") await new Promise((go) => setTimeout(go, 2));
    await session.runner.whenDurable();
    await close();
    expect((await pawl(["ls", file])).out).toMatch(/^session:waiting .* due now$/m);
    expect((await pawl(["ls", file])).out).toMatch(/^session:done .* at rest$/m);
    expect((await pawl(["ls", file])).out).toMatch(/^session:parked .* at rest, needs an approval$/m);
    expect((await pawl(["ls", path], { now: Date.now() })).out).toMatch(/^session:asleep .* at rest until .* \(in /m);
    expect((await pawl(["ls", path], { now: Date.now() + 7_200_000 })).out).toMatch(
      /^session:asleep .* due since \d{4}-\d\d-\d\d [0-9:]+Z \(.* ago\)$/m,
    );
  });

  it("say in which queue a call waits, and how many are before it", async () => {
    const path = join(newFolder(), "journal.db");
    const limit = { concurrency: 1, queue: "gpu", by: (args: unknown) => String(args) };
    const render = defineTool({
      name: "render",
      durable: true,
      limit,
      execute: () => new Promise<never>(() => undefined),
    });
    const { runtime, close } = openRuntime({ file: path, tools: [render] });
    for (const id of ["a", "b", "c"]) {
      const session = await runtime.session(id);
      void session.request("r", [{ label: "x", tool: "render", args: "blue" }]).catch(() => undefined); // Its host closes.
      await expect.poll(() => session.state.calls.at("r:x")?.phase).toBe(id === "a" ? "running" : "queued");
      await session.runner.whenDurable();
    }
    const words = async (): Promise<string> => (await pawl(["why", "c", "-j", path])).out;
    await expect.poll(words).toContain("waits for a place in queue gpu/blue, 1 before it");
    const [why] = jsonIn(await pawl(["why", "b", "-j", path, "--json"]));
    expect(why?.["calls"]).toMatchObject([{ what: { type: "queue", queue: "gpu/blue", before: 0 } }]);
    await close();
    expect(await words()).toMatch(/waits for a place in queue gpu {2}/);
  });

  it("list the scopes that need approval, until it is given", async () => {
    const path = await madeJournal(newFolder());
    expect((await pawl(["ls", path, "--approvals"])).out).toMatch(/^session:parked .* needs an approval$/m);
    const [{ scopes }] = jsonIn(await pawl(["ls", path, "--approvals", "--json"])) as [{ readonly scopes: unknown }];
    expect(scopes).toMatchObject([{ scope: "session:parked", approvals: 1 }]);
    const hash = stableHash({ sum: 12 });
    expect(await pawl(["approve", "parked", "r:c", "--hash", hash, "--by", "ann", "-j", path])).toMatchObject({
      code: 0,
    });
    expect((await pawl(["ls", path, "--approvals"])).out).toBe(`no scopes in ${path}\n`);
  });

  it("show a scope's calls, effects, waits and approvals", async () => {
    const [waiting] = jsonIn(await pawl(["show", "waiting", "-j", file, "--json"]));
    expect(waiting).toMatchObject({
      scope: "session:waiting",
      calls: [{ call: "r:c", phase: "running", body: { attempt: 1, run: 1, settled: 1 } }],
      waits: [{ waiters: ["r:c"] }],
    });
    const [parked] = jsonIn(await pawl(["show", `${file}#parked`, "--json"]));
    expect(parked).toMatchObject({ approvals: [{ call: "r:c", args: { sum: 12 } }] });
  });

  it("say which version diverged, which fields of its input differ, and how to move the call on", async () => {
    const golden = new URL("../../sansio-core/test/golden/2/divergence.jsonl", import.meta.url);
    const lines = readFileSync(golden, "utf8").split(/(?<=\n)/);
    const log = join(newFolder(), "parked.jsonl");
    const first = lines.findIndex((line) => line.includes('"type":"call.diverged"'));
    writeFileSync(log, lines.slice(0, first + 1).join(""));
    const { out } = await pawl(["why", log]);
    expect(out).toContain("waits for another version of its tool than v2, or for somebody to resolve its outcome");
    expect(out).toContain(
      "at request 1 in version v2: expected step `a`, found it with another input (/amount, /currency)",
    );
    expect(out).toContain('/currency: expected nothing, found "EUR"');
    expect(out).toContain("r:c1 --outcome release");
    expect((await pawl(["show", log])).out).toContain("its code diverged at request 1 in version v2");
    const [shown] = jsonIn(await pawl(["why", log, "--json"]));
    expect(shown?.["calls"]).toContainEqual(
      expect.objectContaining({
        call: "r:c1",
        what: expect.objectContaining({
          failed: ["v2"],
          divergence: expect.objectContaining({
            version: "v2",
            differs: expect.objectContaining({ expected: { key: "a", kind: "step", hash: "1".repeat(64) } }),
          }),
        }),
      }),
    );
  });

  it("say in which life a body is that has begun anew", async () => {
    const golden = new URL("../../sansio-core/test/golden/2/lives.jsonl", import.meta.url);
    const lines = readFileSync(golden, "utf8").split(/(?<=\n)/);
    const log = join(newFolder(), "lives.jsonl");
    const second = lines.findIndex((line) => line.includes('"type":"call.continued"'));
    writeFileSync(log, lines.slice(0, second).join(""));
    expect((await pawl(["why", log])).out).toContain("r:c1  durable  running\n");
    writeFileSync(log, lines.slice(0, second + 2).join(""));
    expect((await pawl(["why", log])).out).toContain("r:c1  durable  running, life 2\n");
    expect((await pawl(["show", log])).out).toContain("r:c1  running, life 2, attempt 1, run 2,");
    const [asked] = jsonIn(await pawl(["why", log, "--json"]));
    expect(asked?.["calls"]).toEqual([expect.objectContaining({ call: "r:c1", life: 2 })]);
    const [shown] = jsonIn(await pawl(["show", log, "--json"]));
    expect(shown?.["calls"]).toMatchObject([{ body: { life: 2, run: 2 } }]);
  });

  it("show the request at which a call's code diverged from its log", async () => {
    const golden = new URL("../../sansio-core/test/golden/divergence.jsonl", import.meta.url);
    const lines = readFileSync(golden, "utf8").split(/(?<=\n)/);
    const log = join(newFolder(), "diverged.jsonl");
    writeFileSync(log, lines.slice(0, 5).join("")); // Keeps the lines up to the first `call.diverged`.
    expect((await pawl(["show", log])).out).toContain("its code diverged at request 1: expected step a, found step b");
    const [shown] = jsonIn(await pawl(["show", log, "--json"]));
    const divergence = { position: 1, expected: "step a", found: "step b" };
    expect(shown?.["calls"]).toContainEqual(expect.objectContaining({ call: "r:c1", divergence }));
  });

  it("show what a model was told in a call that is on record, and what it would be told now", async () => {
    const log = new URL("../../sansio-core/test/golden/2/turn.jsonl", import.meta.url).pathname;
    const { out, code } = await pawl(["prompt", log, "t1/1"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^p\/m {2}of model call 1 of turn t1, attempt 1; agent main, [\da-f]{32}$/m);
    expect(out).toContain('tools: look ("auto")\nuser\n  look at it\n');
    const [next] = jsonIn(await pawl(["prompt", log, "--json"]));
    const roles = ["user", "assistant", "tool", "assistant"].map((role) => expect.objectContaining({ role }));
    expect(next?.["messages"]).toEqual(roles);
    expect(await pawl(["prompt", log, "t1/9"])).toMatchObject({ code: 3 });
  });

  it("say what a call waits for, since when, and how to move it on", async () => {
    const { out, code } = await pawl(["why", "parked"], { env: { PAWL_JOURNAL: file } });
    expect(code).toBe(0);
    const line = /^ {2}pawl approve (?<args>.* r:c --hash [0-9a-f]{64})$/m.exec(out)?.groups?.["args"];
    expect(line).toMatch(`${file}#session:parked r:c`);
    expect(out).toMatch(/waits for a person's approval of the arguments [0-9a-f]{64} {2}since \d{4}-/);
    const [why] = jsonIn(await pawl(["why", "waiting", "-j", file, "--json"]));
    expect(why).toMatchObject({
      owned: false,
      calls: [
        {
          call: "r:c",
          what: { type: "body", effects: [{ what: { kind: "wait" }, since: { seq: 6 }, moved_by: ["wait.resolved"] }] },
          since: { seq: 3 },
        },
      ],
    });
    expect((await pawl(["why", "waiting", "-j", file])).out).toContain("nobody runs it now");
    const { runtime, close } = openRuntime({ file, tools });
    await runtime.session("waiting");
    expect((await pawl(["why", "waiting", "-j", file])).out).not.toContain("nobody runs it now");
    await close();
    expect((await pawl(["why", "done", "-j", file])).out).toBe("session:done waits for nothing\n");
    expect((await pawl(["why", "done", "r:x", "-j", file])).code).toBe(3);
    expect((await pawl(["why", "nobody", "-j", file])).code).toBe(3);
  });

  it("print the result of an ended call", async () => {
    const { out, code } = await pawl(["why", "done", "r:c", "-j", file]);
    expect(code).toBe(0);
    expect(out).toMatch(/^r:c {2}quick {2}succeeded {2}at event \d+, \d{4}-.*\n {2}at once\n$/);
    const [why] = jsonIn(await pawl(["why", "done", "r:c", "-j", file, "--json"]));
    const output = { outcome: { status: "success", payload: "at once" } };
    expect(why).toMatchObject({ scope: "session:done", calls: [], ended: { call: "r:c", tool: "quick", output } });

    const at = join(newFolder(), "failed.db");
    const wrong = defineTool({ name: "wrong", execute: () => Promise.reject(new ToolError("no such\norder")) });
    const { runtime, close } = openRuntime({ file: at, tools: [wrong] });
    await (await runtime.session("s")).request("r", [{ label: "c", tool: "wrong", args: {} }]);
    await close();
    expect((await pawl(["why", "s", "r:c", "-j", at])).out).toMatch(
      /^r:c {2}wrong {2}failed: tool_error {2}at event .*\n {2}\[Tool execution failed\]\n {2}no such\n {2}order\n$/,
    );
  });

  it("follow the events of a scope", async () => {
    const over = new AbortController();
    const { runtime, close } = openRuntime({ file, tools });
    const session = await runtime.session("fresh");
    await session.runner.whenDurable(); // Makes it durable, so that a reader sees it.
    let told = "";
    const looking = Promise.withResolvers<void>();
    const following = pawl(["show", "fresh", "-j", file, "--follow"], {
      interrupted: over.signal,
      onOut: (text) => {
        told += text;
        looking.resolve();
        if (told.includes("reply.acked")) over.abort();
      },
    });
    await looking.promise; // Earlier events are shown as state, not as events.
    await session.request("r", [{ label: "c", tool: "quick", args: {} }]);
    await session.runner.whenDurable();
    expect(await following).toMatchObject({ code: 0 });
    await close();
  });
});

/** Follows sessions with a prefix: first only `a` exists, then `b`, too. */
const followed = async (prefix: string, how: With & { readonly json?: boolean }): Promise<readonly string[]> => {
  const over = new AbortController();
  const { runtime, close } = openRuntime({ file, tools });
  await (await runtime.session(`${prefix}-a`)).runner.whenDurable();
  const told: string[] = [];
  const looking = Promise.withResolvers<void>();
  const json = how.json === true ? ["--json"] : [];
  const following = pawl(["ls", file, "--prefix", `session:${prefix}`, "--follow", ...json], {
    ...how,
    interrupted: over.signal,
    onOut: (text) => {
      told.push(text);
      looking.resolve();
      if (text.includes(`${prefix}-b`)) over.abort();
    },
  });
  await looking.promise;
  await (await runtime.session(`${prefix}-b`)).runner.whenDurable();
  expect(await following).toMatchObject({ code: 0, err: "" });
  await close();
  return told;
};

describe("pawl ls --status", () => {
  it("says what each scope is at, and counts them", async () => {
    const made = await madeJournal(newFolder());
    const { code, out } = await pawl(["ls", made, "--status"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^session:parked .* waiting for a person +\d+ m?s /m);
    expect(out).toMatch(/^session:waiting .* waiting for outside/m);
    expect(out).toMatch(/^session:done .* done /m);
    const counts = out.trimEnd().split("\n").at(-1)?.split(", ").toSorted();
    expect(counts).toEqual(["1 done", "1 waiting for a person", "1 waiting for outside"]);
    const [json] = jsonIn(await pawl(["ls", made, "--status", "--json"]));
    const scopes = json?.["scopes"] as readonly { readonly scope: string; readonly status: object }[];
    expect(scopes.find(({ scope }) => scope === "session:parked")?.status).toMatchObject({
      state: "waiting",
      waits_for: "person",
      updated_at: expect.any(Number),
    });
  });
});

describe("pawl ls --follow", () => {
  it("prints only changes, until it is interrupted", async () => {
    const [first = "", next = "", ...more] = await followed("plain", {});
    expect(more).toEqual([]);
    expect(first).toMatch(/^scope .*\nsession:plain-a {2}.*\n$/);
    expect(next).toMatch(/^session:plain-b {2}.*\n$/);
    const [whole, changed] = (await followed("script", { json: true })).map((text) => JSON.parse(text) as object);
    expect(whole).toMatchObject({ journal: file, scopes: [{ scope: "session:script-a" }] });
    expect(changed).toMatchObject({ journal: file, scopes: [{ scope: "session:script-b" }] });
  });

  it("redraws the list in place on a terminal, cut to its size", async () => {
    const [first = "", next = ""] = await followed("seen", { isTTY: true, columns: 24 });
    const lines = stripVTControlCharacters(first).split("\n");
    expect(lines).toEqual([expect.stringMatching(/^scope/), expect.stringMatching(/^session:seen-a .*…$/), ""]);
    expect(lines.every((line) => line.length <= 24)).toBe(true);
    expect(next.startsWith("\u001b[2A\u001b[J")).toBe(true);
    expect(stripVTControlCharacters(next).split("\n")).toHaveLength(4);
  });

  it("draws no more rows than the terminal has, and nothing unchanged", () => {
    let drawn = "";
    const draw = screenOn(
      (text) => (drawn += text),
      () => ({ columns: 80, rows: 4 }),
    );
    draw(["a", "b", "c"]);
    expect(drawn).toBe("a\nb\nc\n");
    draw(["a", "b", "c"]);
    draw(["a", "b", "c", "d", "e"]);
    expect(drawn).toBe("a\nb\nc\n\u001b[3A\u001b[Ja\nb\n… 3 more\n");
  });
});

describe("the progress of a background run", () => {
  it("is a bar if there is a total, and text if not", () => {
    expect(barOf({ current: 3, total: 4, unit: "files", label: "indexing" })).toBe(
      "[###############.....] indexing: 3 / 4 files",
    );
    expect(barOf({ current: 9, total: 4 })).toBe("[####################] 9 / 4");
    expect(barOf({ current: 7, unit: "pages" })).toBe("7 pages");
    expect(progressIn({ type: "run.reported", attempt: 1, progress: { label: "soon" }, output: [] })).toBe("soon");
    expect(progressIn({ type: "run.reported", attempt: 1, output: [] })).toBeUndefined();
    expect(progressIn({ type: "artifacts.written", attempt: 1, written: true })).toBe("");
  });
});

describe("the command line", () => {
  it("has help with examples for each command, and for all of them", async () => {
    const { out, code } = await pawl(["help"]);
    expect(code).toBe(0);
    for (const { name, summary, examples } of commands) {
      expect(out).toContain(summary);
      expect(examples.length, name).toBeGreaterThan(0);
      const help = await pawl([...name.split(" "), "--help"]);
      expect([help.code, help.out]).toEqual([0, expect.stringContaining("Examples")]);
      for (const [line] of examples) expect(line.startsWith(`pawl ${name}`), line).toBe(true);
    }
  });

  it("reports wrong command lines with the expectation and a hint", async () => {
    const errors = [
      [["wy"], "there is no command `wy`\n  did you mean `pawl why`?"],
      [["log", "verfy", "x"], "there is no command `log verfy`\n  did you mean `pawl log verify`?"],
      [["flow"], "`pawl flow` stands for several commands\n  flow run, flow check"],
      [["help", "flow"], "`pawl flow` stands for several commands\n  flow run, flow check"],
      [["why"], "pawl why expects <scope> [call], found nothing\n  pawl help why"],
      [
        ["show", "a.db", "session:alice"],
        "pawl show expects <scope>, found `a.db` `session:alice`\n  pawl show a.db#session:alice",
      ],
      [["ls", "--colour"], "Unknown option '--colour'\n  pawl help ls"],
      [["ls"], "no journal is named\n  add --journal <file or postgres://…>, or set PAWL_JOURNAL"],
    ] as const;
    for (const [args, message] of errors)
      expect(await pawl(args)).toEqual({ code: 2, out: "", err: `pawl: ${message}\n` });
  });

  it("prints errors as JSON on request", async () => {
    const { code, err, out } = await pawl(["why", "nobody", "-j", file, "--json"]);
    expect([code, err]).toEqual([3, ""]);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "no_such_scope", hint: `pawl ls --journal ${file}` } });
  });

  it("reports errors of the system, and tells them from bugs", async () => {
    const { code, err } = await pawl(["log", "export", file, "-o", file]);
    expect([code, err]).toEqual([3, expect.stringMatching(/^pawl: EEXIST: .*\n {2}choose another name\n$/)]);
    const ls = commands.find(({ name }) => name === "ls");
    const broken = vi.spyOn(ls as Command, "run").mockRejectedValue(new TypeError("no such thing"));
    const said = await pawl(["ls", file, "--json"]);
    broken.mockRestore();
    expect([said.code, JSON.parse(said.out)]).toMatchObject([
      5,
      { error: { code: "internal_error", message: expect.stringMatching(/^TypeError: no such thing\n +at /) } },
    ]);
  });

  it("is coloured on a terminal only", async () => {
    const line = ["log", "verify", `${file}#done`];
    expect(coloured((await pawl(line, { isTTY: true })).out)).toBe(true);
    expect(coloured((await pawl(line, { isTTY: true, env: { NO_COLOR: "1" } })).out)).toBe(false);
    expect(coloured((await pawl(line)).out)).toBe(false);
    expect(coloured((await pawl([...line, "--json"], { isTTY: true })).out)).toBe(false);
    expect(coloured((await pawl(["ls", "none"], { isTTY: true })).err)).toBe(true);
    expect(coloured((await pawl(["ls", "none"], { isTTY: true, isErrTTY: false })).err)).toBe(false);
  });

  it("is a binary that scripts can use", async () => {
    const fine = await pawlProcess(["log", "verify", file, "--json"]);
    expect(fine.code).toBe(0);
    expect(jsonIn(fine).every(({ ok }) => ok === true)).toBe(true);
    expect((await pawlProcess(["log", "verify", "none"])).code).toBe(3);
    const old = await pawlProcess(["ls"], { NODE_OPTIONS: "--no-experimental-sqlite" });
    expect([old.code, old.err]).toEqual([2, expect.stringContaining("needs Node 22.13 or newer")]);
    expect((await pawlProcess(["nonsense"])).code).toBe(2);
    expect((await pawlProcess(["why", "parked"], { PAWL_JOURNAL: file })).out).toContain("awaiting_approval");
  });
});

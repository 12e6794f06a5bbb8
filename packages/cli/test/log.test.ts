import { currentProtocol } from "@pawl/sansio-core";
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { openRuntime, sqliteJournal } from "@pawl/driver-node";
import { linesOf, madeJournal, newFolder, quick } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

const folder = newFolder();
let journal = "";
let exported = "";
beforeAll(async () => {
  journal = await madeJournal(folder);
  exported = join(folder, "done.jsonl");
  expect((await pawl(["log", "export", `${journal}#done`, "-o", exported])).code).toBe(0);
});

const fileOf = (name: string, lines: readonly string[]): string => {
  const file = join(folder, name);
  writeFileSync(file, lines.join(""));
  return file;
};
const linesIn = (file: string): readonly string[] => readFileSync(file, "utf8").split(/(?<=\n)/);
/** Returns the log with one line changed; line 1 is the header. */
const spoiled = (name: string, number: number, change: (line: string) => string): string =>
  fileOf(
    name,
    linesIn(exported).map((line, i) => (i === number - 1 ? change(line) : line)),
  );

describe("pawl log export and import", () => {
  it("writes a scope as recorded, after a header", async () => {
    const { out, code } = await pawl(["log", "export", `${journal}#waiting`]);
    expect(code).toBe(0);
    const [header = "", ...lines] = out.split(/(?<=\n)/);
    expect(JSON.parse(header)).toEqual({
      format: 1,
      protocol: currentProtocol,
      scope: "session:waiting",
      epoch: 1,
      writer: "pawl",
      base: 0,
    });
    expect(lines).toEqual(await linesOf(journal, "session:waiting"));
  });

  it("writes every scope of a journal to a folder, and overwrites nothing", async () => {
    const into = join(folder, "all");
    expect((await pawl(["log", "export", journal, "-o", into])).code).toBe(0);
    expect(readdirSync(into)).toEqual(["session_done.jsonl", "session_parked.jsonl", "session_waiting.jsonl"]);
    const again = await pawl(["log", "export", journal, "-o", into]);
    expect([again.code, again.err]).toEqual([3, expect.stringContaining("exists already")]);
    const unnamed = await pawl(["log", "export", journal]);
    expect(unnamed.code).toBe(2);
    expect(unnamed.err).toContain(`expected one scope to print, found the whole journal ${journal}`);
    expect(unnamed.err).toContain(`name one, as ${journal}#`);
  });

  it("imports a log into another journal, where it replays and has the same head", async () => {
    const other = join(folder, "other.db");
    const { code, out } = await pawl(["log", "import", exported, "-j", other]);
    expect([code, out]).toEqual([0, `${exported} -> session:done (5 events)\n`]);
    expect(await linesOf(other, "session:done")).toEqual(await linesOf(journal, "session:done"));
    const heads = await pawl(["log", "head", exported, `${other}#done`, "--json"]);
    const [one, two] = jsonIn(heads);
    expect(one?.["head"]).toBe(two?.["head"]);
    const again = await pawl(["log", "import", exported, "-j", other]);
    expect([again.code, again.err]).toEqual([4, expect.stringContaining("there is a scope session:done already")]);
  });

  it("imports nothing of a faulty log", async () => {
    const other = join(folder, "none.db");
    const bad = spoiled("bad-import.jsonl", 4, (line) => line.replace("quick", "quack"));
    const { code, err } = await pawl(["log", "import", bad, "-j", other]);
    expect([code, err]).toEqual([1, expect.stringContaining("diverged in line 4, event 3")]);
    expect((await pawl(["ls", other])).out).toContain("no scopes");
  });
});

/** Changes a value by hand; the line still replays. */
const forge = (file: string): void => {
  const db = new DatabaseSync(file);
  db.exec("UPDATE append SET lines = replace(lines, '12a', '13b')");
  db.close();
};

describe("pawl log verify", () => {
  it("says how far hashes cover a log, and that none covers the rest", async () => {
    const file = await madeJournal(newFolder());
    const place = `${file}#waiting`;
    const verified = async () => {
      const { code, out } = await pawl(["log", "verify", place]);
      const [{ vouched } = {}] = jsonIn(await pawl(["log", "verify", place, "--json"]));
      return [code, vouched, out.split("\n")[1]?.trim()];
    };
    const unknown = "it replays, but no hash covers it: `pawl log head` stores one";
    expect(await verified()).toEqual([0, 0, unknown]);
    forge(file);
    expect(await verified()).toEqual([0, 0, unknown]);
    expect((await pawl(["log", "head", place])).code).toBe(0);
    expect(await verified()).toEqual([0, 6, "a hash covers all of it"]);
    expect((await pawl(["cancel", "waiting", "r:c", "-j", file])).code).toBe(0);
    expect(await verified()).toEqual([0, 6, "a hash covers it up to event 6, and nothing after that"]);
  });

  it("says that only a noted head covers an exported log", async () => {
    const bare = await pawl(["log", "verify", exported]);
    expect(bare.out).toContain("it replays, but no hash covers it: --head compares it with one that you kept");
    expect(jsonIn(await pawl(["log", "verify", exported, "--json"]))).toMatchObject([{ ok: true, vouched: 0 }]);
    const [head] = jsonIn(await pawl(["log", "head", exported, "--json"]));
    const held = await pawl(["log", "verify", exported, "--head", String(head?.["head"]), "--json"]);
    expect(jsonIn(held)).toMatchObject([{ ok: true, vouched: 5 }]);
  });

  it("finds lines of a journal that do not match its chain", async () => {
    const file = await madeJournal(newFolder());
    expect((await pawl(["log", "head", `${file}#waiting`])).code).toBe(0);
    expect(await pawl(["log", "verify", file])).toMatchObject({ code: 0 });
    expect(await pawl(["doctor", file])).toMatchObject({ code: 0, out: "fine: 3 scopes\n" });
    forge(file);
    const verified = await pawl(["log", "verify", file]);
    expect(verified).toMatchObject({ code: 1, out: expect.stringContaining("broken chain") });
    const bad = jsonIn(await pawl(["log", "verify", file, "--json"])).filter(({ ok }) => ok === false);
    expect(bad).toMatchObject([{ scope: "session:waiting", chain: { type: "broken" } }]);
    expect(bad[0]).not.toHaveProperty("vouched");
    const sick = await pawl(["doctor", file]);
    expect(sick).toMatchObject({ code: 1, out: expect.stringContaining("broken chain") });
    expect(sick.out).toContain("1 of 3 scopes is altered\n");
    const [altered, counted] = jsonIn(await pawl(["doctor", file, "--json"]));
    expect(altered).toMatchObject({ log: `${file}#session:waiting`, trusted: 0, chain: { type: "broken", seq: 6 } });
    expect(counted).toEqual({ scopes: 3, quarantined: 0, altered: 1, unread: 0 });
  });

  it("finds nothing wrong with a file, a scope and a whole journal", async () => {
    const { code, out } = await pawl(["log", "verify", exported, `${journal}#waiting`, journal]);
    expect(code).toBe(0);
    expect(out.split("\n").filter((line) => line.startsWith("ok"))).toHaveLength(5);
  });

  it("tells a torn last line from corruption", async () => {
    const torn = fileOf("torn.jsonl", linesIn(exported));
    appendFileSync(torn, '{"seq":6,"epoch":1,"at":17');
    const said = await pawl(["log", "verify", torn, "--json"]);
    expect(said.code).toBe(0);
    expect(jsonIn(said)[0]).toMatchObject({ ok: true, events: 5, torn: { line: 7, bytes: 26 } });
    const corrupt = await pawl(["log", "verify", spoiled("corrupt.jsonl", 4, (line) => line.slice(9)), "--json"]);
    expect(corrupt.code).toBe(1);
    expect(jsonIn(corrupt)[0]).toMatchObject({ ok: false, fault: { code: "line_corrupt", line: 4 } });
  });

  it("finds a changed event by its consequences, a gap by its sequence, and changed values by the head", async () => {
    const digest = await pawl([
      "log",
      "verify",
      spoiled("digest.jsonl", 4, (line) => line.replace("quick", "quack")),
      "--json",
    ]);
    expect(jsonIn(digest)[0]).toMatchObject({ fault: { code: "diverged", seq: 3 } });
    const gap = await pawl(["log", "verify", spoiled("gap.jsonl", 4, () => ""), "--json"]);
    expect(jsonIn(gap)[0]).toMatchObject({ fault: { code: "sequence_gap" } });
    const [head] = jsonIn(await pawl(["log", "head", exported, "--json"]));
    const value = spoiled("value.jsonl", 5, (line) => line.replace("at once", "at last"));
    expect((await pawl(["log", "verify", value])).code).toBe(0);
    const { code, out } = await pawl(["log", "verify", value, "--head", String(head?.["head"])]);
    expect([code, out]).toEqual([1, expect.stringContaining("other head")]);
  });

  it("says which file cannot be read, and why", async () => {
    const { code, err } = await pawl(["log", "verify", join(folder, "none")]);
    expect([code, err]).toEqual([3, `pawl: ${join(folder, "none")}: the file does not exist\n`]);
  });
});

describe("pawl log replay and diff", () => {
  it("shows the first divergence in full, with the commands of the current code", async () => {
    const bad = spoiled("replay.jsonl", 4, (line) => line.replace("quick", "quack"));
    const { code, out } = await pawl(["log", "replay", bad]);
    expect(code).toBe(1);
    expect(out).toContain("diverged in line 4, event 3: request.submitted recorded the digest");
    expect(out).toMatch(/today: \{"seq":3,"commands":\[\{"type":"observe"/);
    const against = await pawl(["log", "replay", bad, "--against", exported]);
    expect(against.out).toContain('event.calls[0].tool: expected "quick", found "quack"');
  });

  it("prints live calls and outstanding commands at the end", async () => {
    const [found] = jsonIn(await pawl(["log", "replay", `${journal}#parked`, "--json"]));
    expect(found).toMatchObject({ ok: true, events: 4, live: { awaiting_approval: 1 }, outstanding: [] });
  });

  it("compares two logs event by event and field by field", async () => {
    const value = spoiled("diff.jsonl", 5, (line) => line.replace("at once", "at last"));
    const said = await pawl(["log", "diff", exported, value, "--json"]);
    expect(said.code).toBe(1);
    expect(jsonIn(said)[0]).toMatchObject({
      same: false,
      header: [],
      events: [
        {
          seq: 4,
          differences: [
            { path: expect.arrayContaining(["payload"]) as unknown, expected: "at once", found: "at last" },
          ],
        },
      ],
    });
    const shorter = fileOf("shorter.jsonl", linesIn(exported).slice(0, 4));
    expect((await pawl(["log", "diff", exported, shorter])).out).toContain("has 2 more events");
    expect((await pawl(["log", "diff", exported, `${journal}#done`])).code).toBe(0);
  });

  it("counts events that retention has deleted from one of two logs", async () => {
    const file = join(folder, "short.db");
    const { runtime, close } = openRuntime({ file, tools: [quick], retention: { olderThanMs: 0 }, snapshotAfter: 100 });
    const session = await runtime.session("s");
    const exportedTo = async (name: string): Promise<string> => {
      await session.runner.whenDurable();
      const output = join(folder, name);
      expect((await pawl(["log", "export", `${file}#s`, "-o", output])).code).toBe(0);
      return output;
    };
    const whole = await exportedTo("whole.jsonl");
    const stored = sqliteJournal(file);
    for (let i = 0; (await stored.segment("session:s")) === undefined; i++) {
      await session.request(`r${i}`, [{ label: "c", tool: "quick", args: {} }]);
      await pause(25); // A snapshot waits for an idle moment, and retention for the next one.
    }
    await stored.close();
    const cut = await exportedTo("cut.jsonl");
    await close();
    const events = linesIn(whole).length - 1;
    const [found] = jsonIn(await pawl(["log", "diff", whole, cut, "--json"]));
    expect(found).toMatchObject({ same: false, events: [], more_in_first: events });
    const back = await pawl(["log", "diff", cut, whole]);
    expect(back).toMatchObject({ code: 1, out: expect.stringContaining(`${whole} has ${events} more events`) });
  });
});

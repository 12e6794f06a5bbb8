/** Hostile names and values on a terminal, in a shell, and as file names. */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { escaped } from "@pawl/tool-value";
import { shellWord } from "../src/escape.ts";
import { openRuntime } from "@pawl/driver-node";
import { linesOf, newFolder, tools } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

/** Sets a title, moves the cursor, clears the screen, forges a line, and reverses text, with 7-bit and 8-bit codes. */
const nasty = "a\u001b]0;owned\u0007\u001b[9A\u001b[2J\u009b2J\u0000\r\nsession:forged  is fine\u202e\u2066\u007f";
const long = "x".repeat(400);
const sessions = [nasty, "A", "a", "a:b", "a_b", "..", "../../up", "~*'()!", long, `${long}y`];

let file = "";
beforeAll(async () => {
  file = join(newFolder(), "journal.db");
  const { runtime, close } = openRuntime({ file, tools });
  for (const name of sessions) {
    const session = await runtime.session(name);
    const request = name === nasty ? `--host=ws://evil/${nasty}` : "r";
    void session.request(request, [{ label: nasty, tool: "guarded", args: { [nasty]: nasty } }]).catch(() => undefined); // Nobody waits.
    while (session.state.calls.rows()[0]?.phase !== "awaiting_approval") await new Promise((go) => setTimeout(go, 2));
    await session.runner.whenDurable();
  }
  await close();
});

/** All control sequences that a command may print: colours, and its line of progress. */
const own = [..."1 2 22 31 32 33 36 39".split(" ").map((style) => `\u001b[${style}m`), "\r\u001b[K"];
const bare = (text: string): string => own.reduce((rest, one) => rest.replaceAll(one, ""), text);
const unsafe = /[^\P{C}\n\t]|[\u2028\u2029]/u;

describe("hostile names", () => {
  it.each([
    ["ls", () => ["ls", file]],
    ["show", () => ["show", `${file}#${nasty}`]],
    ["why", () => ["why", `${file}#${nasty}`]],
    ["log verify", () => ["log", "verify", file]],
    ["log head", () => ["log", "head", file]],
    ["doctor", () => ["doctor", file]],
    ["log export, to a terminal", () => ["log", "export", `${file}#${nasty}`]],
    ["an error", () => ["show", `${file}#nobody${nasty}`]],
    ["another error", () => ["approve", `${file}#${nasty}`, nasty]],
  ] as const)("is spelt out by %s, and forges no line", async (_, args) => {
    for (const more of [[], ["--json"]]) {
      const { out, err } = await pawl([...args(), ...more], { isTTY: true });
      expect(out + err).not.toBe("");
      expect(bare(out)).not.toMatch(unsafe);
      expect(bare(err)).not.toMatch(unsafe);
      expect(out + err).not.toMatch(/^session:forged/m);
    }
  });

  it("is exact in JSON", async () => {
    const [found] = jsonIn(await pawl(["show", `${file}#${nasty}`, "--json"], { isTTY: true }));
    expect(found).toMatchObject({ scope: `session:${nasty}`, approvals: [{ args: { [nasty]: nasty } }] });
  });

  it("is printed as JSON at any depth", async () => {
    const deep = join(newFolder(), "journal.db");
    const { runtime, close } = openRuntime({ file: deep, tools });
    let args: object = {};
    for (let i = 0; i < 10_000; i++) args = { a: args };
    const session = await runtime.session("s");
    void session.request("r", [{ label: "c", tool: "guarded", args: args as never }]).catch(() => undefined); // Nobody waits.
    while (session.state.calls.rows()[0]?.phase !== "awaiting_approval") await new Promise((go) => setTimeout(go, 2));
    await session.runner.whenDurable();
    await close();
    const { code, out } = await pawl(["show", `${deep}#s`, "--json"]);
    expect([code, out.split('{"a":').length]).toEqual([0, 1 + 2 * 10_000]);
  });

  it("is shown in full for approval", async () => {
    const { out } = await pawl(["show", `${file}#A`]);
    expect(out).toMatch(/^ {4}guarded \{"a.*session:forged.*":"a.*session:forged.*\\u007f"\}$/m);
  });

  it("is no option in the proposed command lines", async () => {
    const { out } = await pawl(["why", `${file}#${nasty}`], { now: 0 });
    const line = /^ {2}pawl (?<line>approve .*)$/m.exec(out)?.groups?.["line"] ?? "";
    const words = execFileSync("bash", ["-c", `printf '%s\\n' ${line.replaceAll("\\u0000", "")}`], {
      env: { LC_ALL: "C.UTF-8" },
    });
    expect(words.toString()).toMatch(/^approve\n--hash\n[0-9a-f]{64}\n--\n/);
    const { err, code } = await pawl(["approve", "--hash", "f", "--", "parked", "--host=ws://evil:c"], {
      env: { PAWL_JOURNAL: file },
    });
    expect([code, err]).toEqual([3, expect.stringContaining("parked")]);
  });

  it.each([
    "plain",
    "two words",
    "it's",
    "-x",
    "$(reboot)",
    "`x`",
    "\\n",
    "é\u009b\u001b['\\ ",
    "a\nb\u202e",
    "a\u200bb",
    "\u{e0041}😀",
  ])("is for a shell the word that it is: %j", (word) => {
    const env = { LC_ALL: "C.UTF-8" };
    expect(execFileSync("bash", ["-c", `printf %s ${shellWord(word)}`], { env }).toString()).toBe(word);
  });
});

describe("a name with letters that nobody sees", () => {
  const invisible = [
    ..."\u00a0\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u2060\u2061\u2800\u3000\u3164\ufe0f\ufeff",
    "\u{e0041}",
    "\ud800",
  ];

  it.each(invisible.map((letter) => [JSON.stringify(letter), letter]))("is spelled out: %s", (_, letter) => {
    const shown = escaped(`ann${letter}`);
    expect(shown).toMatch(/^ann(?:\\u[0-9a-f]{4})+$/);
    expect(JSON.parse(`"${shown}"`)).toBe(`ann${letter}`);
  });

  it("leaves letters that are seen as they are", () => {
    const seen = "Zoë \t naïve ελληνικά 日本語 😀 e\u0301";
    expect(escaped(seen)).toBe(seen);
  });
});

describe("a token in a file", () => {
  it("is private, even if the file existed with other permissions", async () => {
    const folder = newFolder();
    const [journal, token] = [join(folder, "journal.db"), join(folder, "token")];
    writeFileSync(`${journal}.host`, new Uint8Array(32).fill(3));
    writeFileSync(token, "before", { mode: 0o644 });
    expect((await pawl(["token", "ann", "-j", journal, "-o", token])).code).toBe(0);
    expect(statSync(token).mode & 0o777).toBe(0o600);
    expect(readFileSync(token, "utf8")).toMatch(/^pawl1\.[^\n]+\n$/);
  });
});

describe("exported scopes", () => {
  it("have a file each in their folder, whatever their names are", async () => {
    const folder = join(newFolder(), "logs");
    expect((await pawl(["log", "export", file, "-o", folder])).code).toBe(0);
    const names = readdirSync(folder);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(sessions.length);
    for (const name of names) expect(name).toMatch(/^session_[\w.%~-]{1,230}\.jsonl$/);
    const scopeIn = (name: string): unknown =>
      (JSON.parse(readFileSync(join(folder, name), "utf8").split("\n")[0] ?? "") as { readonly scope?: unknown }).scope;
    expect(names.map(scopeIn).toSorted()).toEqual(sessions.map((id) => `session:${id}`).toSorted());
    expect(names).toContain("session_a%3Ab.jsonl");
    expect(await linesOf(file, "session:a_b")).not.toEqual([]);
  });
});

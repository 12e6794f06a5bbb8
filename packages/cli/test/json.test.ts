/** `--json`: what every command prints with it, when it succeeds and when it fails. */
import { Readable } from "node:stream";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { pathOf } from "../../../test/project.ts";
import { allCommands } from "../src/run.ts";
import { madeJournal, newFolder } from "./fixture.ts";
import { type Said, jsonIn, pawl, pawlProcess, toldAs } from "./pawl.ts";

const commands = await allCommands();

const folder = newFolder();
const at = (name: string): string => join(folder, name);
const toolModule = `console.log("the module speaks");
  export const tools = [{ name: "work", durable: true, execute: (_, ctx) => {
    console.log("the body speaks");
    return ctx.run("reserve", () => "12a", { input: { to: "Lviv" } }).then(() => ctx.waitFor("approved"));
  } }];`;
const files: { readonly [name: string]: string } = {
  "tools.mjs": toolModule,
  "flow.json": `{"name":"Sum","nodes":[{"node_type":"use_tool","tool_name":"Calculator","argument":"1+2"}]}`,
  "bad.json": `{"name":"Sum","nodes":[{"node_type":"nope"}]}`,
  "text.txt": "hello\n",
  "empty.jsonl": "",
};

let made = "";
let key = "";
let hash = "";
beforeAll(async () => {
  made = await madeJournal(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  copyFileSync(new URL("../../sansio-core/test/golden/2/turn.jsonl", import.meta.url), at("turn.jsonl"));
  await pawl(["log", "export", `${made}#waiting`, "-o", at("waiting.jsonl")]);
  await pawl(["log", "export", `${made}#done`, "-o", at("done.jsonl")]);
  key = /^wait (?<key>\w+):/m.exec((await pawl(["show", `${made}#waiting`])).out)?.groups?.["key"] ?? "";
  hash = /--hash (?<hash>\w+)/.exec((await pawl(["why", `${made}#parked`])).out)?.groups?.["hash"] ?? "";
});

/** Each line runs on a copy of the journal, or on a new one. */
interface Tried {
  /** Command lines that succeed. `move` needs two hosts and is tested in host.test.ts. */
  readonly fine: readonly string[];
  /** Command lines that fail, with their exit codes. */
  readonly not: readonly (readonly [line: string, code: number])[];
}

/** `J` stands for the journal, `F/` for the folder, `K` for a wait's key, `H` for the hash of arguments. */
const tried: { readonly [command: string]: Tried } = {
  ls: {
    fine: ["ls J", "ls J --prefix none"],
    not: [
      ["ls F/none.db", 3],
      ["ls J#waiting", 2],
      ["ls --wrong", 2],
    ],
  },
  show: {
    fine: ["show J#waiting", "show F/waiting.jsonl"],
    not: [
      ["show J#nobody", 3],
      ["show F/text.txt", 1],
      ["show F/empty.jsonl", 1],
    ],
  },
  why: {
    fine: ["why J#parked", "why J#waiting r:c", "why J#done r:c"],
    not: [
      ["why J#nobody", 3],
      ["why J#done r:x", 3],
    ],
  },
  prompt: {
    fine: ["prompt F/turn.jsonl", "prompt F/turn.jsonl t1/1"],
    not: [
      ["prompt F/turn.jsonl t9", 3],
      ["prompt J#waiting", 3],
    ],
  },
  resolve: {
    fine: ["resolve J#waiting K --ok 1"],
    not: [
      ["resolve J#waiting none --ok 1", 4],
      ["resolve J#waiting K", 2],
      ["resolve J#waiting K --ok {", 2],
    ],
  },
  approve: { fine: ["approve J#parked r:c --hash H"], not: [["approve J#parked r:c --hash no", 4]] },
  reject: { fine: ["reject J#parked r:c --hash H"], not: [["reject J#parked r:c", 2]] },
  cancel: { fine: ["cancel J#waiting r:c", "cancel J#parked r"], not: [["cancel J#done r", 4]] },
  fork: {
    fine: ["fork J#waiting --at 3"],
    not: [
      ["fork J#waiting --at 99", 4],
      ["fork J#waiting", 2],
    ],
  },
  move: { fine: [], not: [["move alice --to ws://127.0.0.1:1", 2]] },
  forget: {
    fine: [], // Tested with sealed journals in seal.test.ts.
    not: [
      ["forget J#waiting", 2],
      ["forget J#nobody --keys F/keys", 3],
      ["forget J#waiting --keys F/keys --for-ever", 4],
    ],
  },
  doctor: { fine: ["doctor J"], not: [["doctor F/none.db", 3]] },
  migrate: { fine: [], not: [["migrate J", 2]] }, // Tested with a server in database.test.ts.
  "blobs sweep": { fine: ["blobs sweep J --dry-run"], not: [["blobs sweep F/none.db", 3]] },
  "check-upgrade": {
    fine: ["check-upgrade J#waiting -t F/tools.mjs"],
    not: [
      ["check-upgrade J -t F/none.mjs", 3],
      ["check-upgrade J", 2],
    ],
  },
  explore: {
    fine: [`explore ${pathOf("examples/pay.scenario.ts")} --only crashes --pairs 1`],
    not: [["explore F/tools.mjs", 2]],
  },
  init: { fine: ["init F/new", "init F/new-too --tools F/tools.mjs"], not: [["init F/new", 3]] },
  completion: { fine: ["completion bash", "completion zsh"], not: [["completion tcsh", 2]] },
  host: {
    fine: ["host F/tools.mjs -j F/host.db --stop-after-idle 0 --grant ann"],
    not: [
      ["host F/tools.mjs -j F/none/none.db", 3],
      ["host F/tools.mjs -j F/host.db --address 192.0.2.1", 3],
    ],
  },
  chat: {
    fine: ["chat J#waiting --agents F/tools.mjs"],
    not: [
      ["chat J#waiting", 2],
      ["chat J --agents F/tools.mjs", 2],
    ],
  },
  // Over stdio its client speaks, and over HTTP it serves until it is stopped: `mcp.test.ts` does both.
  mcp: {
    fine: [],
    not: [
      ["mcp", 2],
      ["mcp F/none.mjs -j F/mcp.db", 3],
      ["mcp F/tools.mjs -j F/none/none.db", 3],
    ],
  },
  token: {
    fine: ["token ann -c F/host.json", "token ann -c F/host.json -o F/ann.token"],
    not: [["token ann -j F/none.db", 3]],
  },
  "flow run": {
    fine: ["flow run F/flow.json"],
    not: [
      ["flow run F/bad.json", 1],
      ["flow run F/none.json", 3],
    ],
  },
  "flow check": { fine: ["flow check F/flow.json"], not: [["flow check F/none.json", 3]] },
  "log export": {
    fine: ["log export J#waiting", "log export J -o F/logs"],
    not: [
      ["log export J", 2],
      ["log export J -o F/text.txt", 3],
    ],
  },
  "log import": {
    fine: ["log import F/waiting.jsonl -j F/imported.db"],
    not: [
      ["log import F/waiting.jsonl -j J", 4],
      ["log import F/waiting.jsonl -j F/none/none.db", 3],
    ],
  },
  "log verify": { fine: ["log verify J", "log verify F/waiting.jsonl"], not: [["log verify F/none.jsonl", 3]] },
  "log replay": { fine: ["log replay F/waiting.jsonl"], not: [["log replay F/none.jsonl", 3]] },
  "log diff": { fine: ["log diff F/waiting.jsonl J#waiting"], not: [["log diff F/text.txt F/done.jsonl", 1]] },
  "log head": { fine: ["log head F/waiting.jsonl", "log head J"], not: [["log head F/none.jsonl", 3]] },
};

let copies = 0;

const nothingTyped = (): AsyncIterable<string> => Readable.from([]);

/** Runs a line on its own journal. */
const runLine = (line: string): Promise<Said> => {
  const journal = at(`copy-${(copies += 1)}.db`);
  for (const end of ["", ".root"]) copyFileSync(`${made}${end}`, `${journal}${end}`);
  writeFileSync(at("secret"), "s".repeat(32));
  writeFileSync(at("host.json"), JSON.stringify({ journal: "journal.db", secrets: ["secret"] }));
  const words = line.split(" ").map((word) => {
    if (word === "K") return key;
    if (word === "H") return hash;
    return word.replace(/^J(?=#|$)/, journal).replace(/^F\//, `${folder}/`);
  });
  return pawl([...words, "--json"], { lines: nothingTyped() });
};

describe("--json", () => {
  it("is tried for every command", () => {
    expect(Object.keys(tried).toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  });

  for (const command of commands) {
    const { fine = [], not = [] } = tried[command.name] ?? {};
    it(`has pawl ${command.name} print the documents of its help, with errors as the last`, async () => {
      for (const line of fine) {
        const said = await runLine(line);
        expect([said.code, said.err], `${line}: ${said.out}`).toEqual([0, ""]);
        const documents = jsonIn(said);
        expect(documents.length, line).toBeGreaterThan(0);
        for (const document of documents) expect(toldAs(command, document), JSON.stringify(document)).toBeDefined();
      }
      expect(not.length).toBeGreaterThan(0);
      for (const [line, code] of not) {
        const said = await runLine(line);
        expect([said.code, said.err], `${line}: ${said.out}`).toEqual([code, ""]);
        expect(jsonIn(said).at(-1), line).toEqual({
          error: expect.objectContaining({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) }),
        });
      }
    });

    it(`has pawl ${command.name} print its help`, async () => {
      const [help] = jsonIn(await pawl([...command.name.split(" "), "--help", "--json"]));
      expect(help).toMatchObject({ name: command.name, summary: command.summary, json: command.json });
    });
  }

  it("is accepted before the command, too, and prints the help and the version", async () => {
    expect(jsonIn(await pawl(["--json", "ls", made]))).toMatchObject([{ journal: made }]);
    expect(jsonIn(await pawl(["help", "--json"]))).toMatchObject([
      { exit_codes: [{ code: 0, what: "fine" }, {}, {}, {}, {}, {}] },
    ]);
    expect(await pawl(["--json"])).toMatchObject({ code: 2, out: expect.stringMatching(/^\{"commands":.*\}\n$/) });
    expect(jsonIn(await pawl(["--version", "--json"]))).toEqual([{ version: expect.stringMatching(/^\d+\.\d+\.\d+/) }]);
    expect(await pawl(["--wrong"])).toMatchObject({ code: 2, out: "" });
  });

  it("is the only standard output, even if loaded modules print", async () => {
    const said = await pawlProcess(["check-upgrade", `${made}#waiting`, "-t", at("tools.mjs"), "--json"]);
    expect(jsonIn(said)).toMatchObject([{ safe: true }]);
    expect(said).toMatchObject({ code: 0, err: "the module speaks\nthe body speaks\n" });
  });
});

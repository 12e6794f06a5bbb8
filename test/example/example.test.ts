/** The examples that run from one command say what they promise; the agent in the terminal is killed with SIGKILL. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = async (name: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../../examples", name)])).stdout;

describe("an example", { timeout: 240_000 }, () => {
  it("has an agent killed with SIGKILL three times, and its call goes on: each step is done once", async () => {
    const said = await run("survive.ts");
    expect(said.match(/process \d+ is killed with SIGKILL/g)).toHaveLength(3);
    expect(said).toMatch(/reply \{"status":"success","payload":\{"confirmation":"[\da-f-]{36}","to":"Lviv"\}\}/);
    const done = [...said.matchAll(/tried (?<tried>\d+)×, done (?<done>\d+)×/g)].map(({ groups }) => groups?.["done"]);
    expect(done).toEqual(["1", "1", "1", "1", "1"]);
  });

  it("runs a flow over tools of HTTP and MCP", async () => {
    const lines = (await run("flow.ts")).trim().split("\n");
    expect(lines.at(-1)).toBe('{"type":"returned","value":"sugar costs 12"}');
    expect(
      lines.filter((line) => line.includes('"kind":"step_complete"') && line.includes('"success":true')),
    ).toHaveLength(7);
  });

  it("has a story told word by word, read along and later from the middle", async () => {
    const said = await run("stream.ts");
    expect(said.match(/A pawl lets a wheel turn one way only, so a step that was taken is never lost/g)).toHaveLength(
      2,
    );
    expect(said.trim().split("\n").at(-1)).toBe("a step that was taken is never lost");
  });

  it("has a tool over MCP that asks before it acts, and whose server dies in the middle", async () => {
    expect((await run("mcp.ts")).trim().split("\n")).toEqual([
      "asked: send_mail wants to run",
      "the server has died in the middle of its work",
      '{"status":"success","payload":"sent to bob"}',
    ]);
  });

  it("shows what values are, and what is none", async () => {
    const said = await run("values.ts");
    expect(said).toContain("a cycle: a value must not contain itself");
    expect(said).toContain("a tag without its ref: malformed attachment tool value");
  });
});

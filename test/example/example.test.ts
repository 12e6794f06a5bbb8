/** The examples that run from one command say what they promise; the agent in the terminal is killed with SIGKILL. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const pathTo = (name: string): string => join(import.meta.dirname, "../../examples", name);
const run = async (name: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, [pathTo(name)])).stdout;

const chunk = (delta: object, more: object): string =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, ...more }] })}\n\n`;

describe("an example", { timeout: 240_000 }, () => {
  it("has an agent killed with SIGKILL three times, and its call goes on: each step is done once", async () => {
    const said = await run("survive.ts");
    expect(said.match(/process \d+ is killed with SIGKILL/g)).toHaveLength(3);
    expect(said).toMatch(/reply \{"status":"success","payload":\{"confirmation":"[\da-f-]{36}","to":"Lviv"\}\}/);
    const done = [...said.matchAll(/tried (?<tried>\d+)×, done (?<done>\d+)×/g)].map(({ groups }) => groups?.["done"]);
    expect(done).toEqual(["1", "1", "1", "1", "1"]);
  });

  it("has an agent book a train after it was killed in mid-word, with its model calls counted once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pawl-example-"));
    const first = spawn(process.execPath, [pathTo("agent.ts"), folder], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    for await (const words of first.stdout) {
      said += String(words);
      if (said.includes("look for")) first.kill("SIGKILL");
    }
    expect(said).not.toContain("trains to Lviv");
    const { stdout } = await promisify(execFile)(process.execPath, [pathTo("agent.ts"), folder]);
    expect(stdout).toContain("Let me look for trains to Lviv.");
    expect(stdout).toContain("book_seat: yes");
    expect(stdout).toContain("Your seat is booked: you leave at 9:10, and have the whole day in Lviv.");
    expect(stdout).toContain("finished, after 3 model calls");
    rmSync(folder, { recursive: true });
  });

  it("has an agent ask two others, whose approvals are decided at its session", async () => {
    const said = await run("agents.ts");
    expect(said).toContain('alice/turn-1/m1.1: ask_price {"hotel":"Grand"}: yes');
    expect(said).toContain("The Grand is cheaper: take it. (6 model calls of three agents)");
  });

  it("has the agent ask an endpoint that speaks as OpenAI's does", async () => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chunk({ role: "assistant", content: "There is no train." }, {}));
        response.end(`${chunk({}, { finish_reason: "stop" })}data: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const env = {
      ...process.env,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_MODEL: "small",
      OPENAI_API_KEY: "k",
    };
    const { stdout } = await promisify(execFile)(process.execPath, [pathTo("agent.ts")], { env });
    server.close();
    expect(stdout).toMatch(/There is no train\.\s+finished, after 1 model calls/u);
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

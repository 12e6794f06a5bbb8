/** A session of the SDK in one process, with the SDK's own process behind it, against a scripted model. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { Services } from "../../ai-sdk/test/kill/model-server.ts";
import { guardedSpawn } from "../src/guarded-spawn.ts";
import { claudeSession } from "../src/index.ts";
import { Transcripts } from "../src/transcript.ts";
import { isolated } from "./isolated.ts";

const folderOf = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), name));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const openHere = () => {
  const { runtime, close } = openRuntime({ file: ":memory:", tools: [] });
  onTestFinished(close);
  return runtime;
};

describe("a session", () => {
  it("asks a person before a tool of the SDK acts, who denies; its transcript is in the store", async () => {
    const services = await Services.open(() => undefined);
    onTestFinished(() => services.close());
    const runtime = openHere();
    const done: unknown[] = [];
    const look = defineTool({
      name: "look",
      inputSchema: z.object({ order: z.string() }),
      execute: (args: { readonly order: string }) => void done.push(args.order),
    });
    const claude = await claudeSession(runtime, "s", { tools: [look] });
    const asking = (async (): Promise<void> => {
      await expect.poll(async () => (await claude.session.approvals()).length, { timeout: 120_000 }).toBe(1);
      for (const one of await claude.session.approvals()) await one.reject({ by: "ann", reason: "not today" });
    })();
    const { canUseTool } = claude.options;
    const said: string[] = [];
    const home = folderOf("pawl-claude-");
    const options = { ...isolated(home, services.url), ...claude.options };
    for await (const message of query({ prompt: claude.prompt("Refund A1"), options })) {
      said.push(message.type);
      if (message.type === "result") break;
    }
    expect(done).toEqual(["A1"]);
    expect(said.at(-1)).toBe("result");
    const again = await claudeSession(runtime, "s", { tools: [look] });
    expect(again.options.resume).toBe(claude.options.sessionId);
    expect(again.prompt("Refund A1")).toBe("Refund A1"); // Its turn is over, so this is another.
    const asked = { toolUseID: "t1", signal: new AbortController().signal, requestId: "r" };
    const decision = canUseTool?.("Bash", { command: "rm" }, asked as Parameters<NonNullable<typeof canUseTool>>[2]);
    await asking;
    expect(await decision).toEqual({ behavior: "deny", message: "not today" });
  });
});

describe("a transcript", () => {
  it("is as it was appended, also in large lines, and holds no line twice", async () => {
    const session = await openHere().session("s");
    const written: number[] = [];
    const made = (): Transcripts => new Transcripts(session.store, (entries) => void written.push(entries.length));
    const entries = Array.from({ length: 40 }, (_, i) => ({
      type: "user",
      uuid: `u${i}`,
      text: `${i} "${"\n\\é".repeat(i === 7 ? 30_000 : 60)}"`,
    }));
    const key = { projectKey: "p", sessionId: "x" };
    const first = made();
    await Promise.all(entries.map((entry) => first.append(key, [entry])));
    await first.append(key, entries.slice(3, 5));
    await first.append({ ...key, subpath: "subagents/a" }, [{ type: "title" }]);
    const second = made();
    expect(await second.load({ ...key })).toEqual(entries);
    expect(await second.load({ sessionId: "x", subpath: "subagents/a" })).toEqual([{ type: "title" }]);
    expect(await second.listSubkeys(key)).toEqual(["subagents/a"]);
    expect(await second.load({ sessionId: "none" })).toBe(null);
    expect(written).toHaveLength(41);
  });
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // There is no such process.
  }
};

describe("the process of the SDK", () => {
  it("ends with the program that started it, when that is killed", async () => {
    const program = fork(join(import.meta.dirname, "spawn-program.ts"));
    const [said] = (await once(program, "message")) as [string];
    const [pid, more] = said.split(" ");
    expect([isAlive(Number(pid)), more]).toEqual([true, "there"]);
    program.kill("SIGKILL");
    await expect.poll(() => isAlive(Number(pid)), { timeout: 20_000 }).toBe(false);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("ends by %s, and says how it ended", async (signal) => {
    const args = ["-e", "console.log(process.pid); process.stdin.on('data', (said) => process.exit(Number(said)))"];
    const start = () =>
      guardedSpawn({})({ command: process.execPath, args, env: {}, signal: new AbortController().signal });
    const exits = start();
    exits.stdin.write("7\n");
    const [code] = await new Promise<readonly unknown[]>((resolve) =>
      exits.on("exit", (...how: readonly unknown[]) => resolve(how)),
    );
    expect(code).toBe(7);
    const killed = start();
    const [pid] = (await once(killed.stdout, "data")) as [Buffer];
    killed.kill(signal);
    await expect.poll(() => isAlive(Number(String(pid))), { timeout: 20_000 }).toBe(false);
  });
});

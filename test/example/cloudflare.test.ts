/** The example on workerd: started by one command, killed by another, approved after that. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { isThere, workerd } from "../program.ts";
import { pathOf } from "../project.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-example-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const killIt = (): void => void execFileSync(process.execPath, [pathOf("examples/cloudflare/kill.ts"), folder]);

interface Started {
  readonly url: string;
  /** Resolves with the first line that begins so. */
  readonly line: (begin: string) => Promise<string>;
}

const start = async (): Promise<Started> => {
  const child: ChildProcess = spawn(process.execPath, [pathOf("examples/cloudflare/start.ts"), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const wanted: (() => void)[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    lines.push(line);
    for (const look of wanted) look();
  });
  const line = (begin: string): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = lines.find((one) => one.startsWith(begin));
        if (found !== undefined) resolve(found);
      };
      wanted.push(look);
      look();
    });
  const url = /http:\S+(?=: )/.exec(await line("workerd"))?.[0] ?? "";
  return { url, line };
};

const waits = async (url: string): Promise<void> => {
  while (((await (await fetch(`${url}/waiting`)).json()) as readonly string[]).length === 0)
    await new Promise((then) => void setTimeout(then, 50));
};

describe.skipIf(!isThere(workerd))("the agent on workerd", () => {
  it("publishes once a person has approved, though it was killed while it waited", async () => {
    const first = await start();
    await waits(first.url);
    killIt();
    expect(await first.line("workerd ended")).toBe("workerd ended with SIGKILL");
    const second = await start();
    await waits(second.url);
    await fetch(`${second.url}/approve`);
    const chapters = ["beginning", "middle", "end"].map((chapter) => `the ${chapter} of a short story`);
    const payload = `published by ann: ${chapters.join(", ")}`;
    expect(await second.line("the reply")).toBe(`the reply: ${JSON.stringify({ status: "success", payload })}`);
    killIt();
  });
});

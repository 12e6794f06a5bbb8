/** Chromium, as Debian has it; where there is none, what is said of it. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { isThere, chromium as program } from "../program.ts";

const { path: executablePath, remedy } = program;

export const hasChromium = isThere(program);
export const withoutChromium = `there is no Chromium at ${executablePath}: ${remedy}`;

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const openChromium = (): Promise<Browser> => chromium.launch({ executablePath, headless: true, args });

export interface SpawnedChromium {
  readonly browser: Browser;
  /** Ends all of its processes, as a crash does. */
  readonly kill: () => void;
}

const until = async <A>(look: () => A | undefined): Promise<A> => {
  for (let tries = 0; tries < 400; tries++) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("Chromium did not say where it listens");
};

/** Chromium as a process of its own, over a profile that outlives it. */
export const spawnChromium = async (profile: string): Promise<SpawnedChromium> => {
  const told = ["--headless", `--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"];
  const child = spawn(executablePath, [...args, ...told], { stdio: "ignore", detached: true });
  const file = join(profile, "DevToolsActivePort");
  // The file is there before it is written.
  const port = await until(() => (existsSync(file) ? /^\d+(?=\n)/.exec(readFileSync(file, "utf8"))?.[0] : undefined));
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  return { browser, kill: () => void process.kill(-(child.pid as number), "SIGKILL") };
};

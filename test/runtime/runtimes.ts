/** The runtimes that pawl is held to: where each is on this machine, its version, and how a job runs in it. */
import { execFileSync } from "node:child_process";
import { type Program, bun, chromium, deno, firefox, isThere, node22, webkit, workerd, xvfb } from "../program.ts";
import { inBrowser, onScreen } from "./guest/browser.ts";
import type { Guest } from "./guest/job.ts";
import { inProgram } from "./guest/program.ts";
import { inWorkerd } from "./guest/workerd.ts";

export interface RuntimeUnderTest {
  readonly name: string;
  /** Programs that it needs. */
  readonly programs: readonly Program[];
  readonly version: () => string;
  readonly run: Guest;
}

const versionOf = (path: string, env: NodeJS.ProcessEnv = {}): string => {
  const said = execFileSync(path, ["--version"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const version = /\d+(?:[.-]\d+)*(?:\.\d+)?/.exec(said.toString())?.[0];
  if (version === undefined) throw new Error(`${path} --version says no version: ${said.toString()}`);
  return version;
};

const chromiumArgs = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--no-first-run",
];

/** Debian keeps the version of a library beside it; its browser would need a screen to say it. */
const webkitVersion = (): string => {
  const listed = execFileSync("dpkg-query", ["-W", "-f=${Version}", "libwebkit2gtk-4.1-0"]).toString();
  return /^[\d.]+/.exec(listed)?.[0] ?? listed;
};

const node: Program = { name: "Node", path: process.execPath, remedy: "run `pnpm install`" };

/** The first is the one that the others are compared with. */
export const runtimes: readonly RuntimeUnderTest[] = [
  { name: "Node 24", programs: [node], version: () => versionOf(node.path), run: inProgram(node.path) },
  { name: "Node 22", programs: [node22], version: () => versionOf(node22.path), run: inProgram(node22.path) },
  { name: "Bun", programs: [bun], version: () => versionOf(bun.path), run: inProgram(bun.path, ["run"]) },
  {
    name: "Deno",
    programs: [deno],
    version: () => versionOf(deno.path),
    run: inProgram(deno.path, ["run", "--quiet", "--allow-read=.", "--allow-write=."]),
  },
  { name: "workerd", programs: [workerd], version: () => versionOf(workerd.path), run: inWorkerd(workerd.path) },
  {
    name: "Chromium",
    programs: [chromium],
    version: () => versionOf(chromium.path),
    run: inBrowser(chromium.path, (profile, url) => [...chromiumArgs, `--user-data-dir=${profile}`, url]),
  },
  {
    name: "Firefox ESR",
    programs: [firefox],
    version: () => versionOf(firefox.path),
    run: inBrowser(firefox.path, (profile, url) => ["--headless", "--no-remote", "--profile", profile, url]),
  },
  {
    name: "WebKitGTK",
    programs: [webkit, xvfb],
    version: webkitVersion,
    run: onScreen(webkit.path, xvfb.path, (_, url) => [url]),
  },
];

export const missingFor = ({ programs }: RuntimeUnderTest): readonly Program[] =>
  programs.filter((program) => !isThere(program));

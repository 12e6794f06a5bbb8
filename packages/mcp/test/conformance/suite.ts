/** Runs the official suite, offline, against a server and a client in processes of their own, and counts what passed. */
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const revision = "2026-07-28";
const here = import.meta.dirname;
const suite = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);

export interface Count {
  readonly passed: number;
  readonly total: number;
}

export interface Figures {
  /** Checks of the scenarios of the tasks extension. */
  readonly tasks: Count;
  /** Scenarios that the revision requires of servers, and of clients. */
  readonly server: Count;
  readonly client: Count;
}

interface Scenario {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly isScored: boolean;
}

const started = async (script: string): Promise<{ readonly child: ChildProcess; readonly said: string }> => {
  const child = spawn(process.execPath, [join(here, script)], { stdio: ["pipe", "pipe", "ignore"] });
  for await (const said of createInterface({ input: child.stdout })) return { child, said };
  throw new Error(`${script} ended before it said where it is`);
};

/** Ends a process by its standard input, and waits until it has gone. */
const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.stdin?.end();
    setTimeout(() => child.kill("SIGKILL"), 3000).unref();
  });

const output = (args: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [suite, ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => (text += part));
    child.once("error", reject);
    child.once("exit", () => resolve(text));
  });

/** Reads the summary of a run. Scenarios that are listed after `Not scored` are not required. */
const scenariosIn = (text: string): readonly Scenario[] => {
  const [summary = "", unscored = ""] = text.split(/^Not scored for .*$/m);
  const others = new Set([...unscored.matchAll(/^\s+\S (?<name>\S+) \(/gm)].map(({ groups }) => groups?.["name"]));
  return [...summary.matchAll(/^\S (?<name>\S+): (?<passed>\d+) passed, (?<failed>\d+) failed/gm)].map(
    ({ groups = {} }) => ({
      name: groups["name"] ?? "",
      passed: Number(groups["passed"]),
      failed: Number(groups["failed"]),
      isScored: !others.has(groups["name"]),
    }),
  );
};

const required = (scenarios: readonly Scenario[]): Count => {
  const scored = scenarios.filter(({ isScored }) => isScored);
  return { passed: scored.filter(({ passed, failed }) => failed === 0 && passed > 0).length, total: scored.length };
};

const checks = (scenarios: readonly Scenario[]): Count => {
  const passed = scenarios.reduce((sum, one) => sum + one.passed, 0);
  return { passed, total: scenarios.reduce((sum, one) => sum + one.failed, passed) };
};

interface Run {
  readonly scenarios: readonly Scenario[];
  readonly text: string;
}

const mostTries = 4;

/** Runs one scenario alone, and counts its checks. */
const alone = async (scenario: Scenario, args: readonly string[], home: string): Promise<Scenario> => {
  const text = await output([...args, "--scenario", scenario.name, "--spec-version", revision], home);
  const { passed, failed } = /^Passed: (?<passed>\d+)\/\d+, (?<failed>\d+) failed/m.exec(text)?.groups ?? {};
  return { ...scenario, passed: Number(passed ?? 0), failed: Number(failed ?? 1) };
};

/**
 * Runs all scenarios of a side. Some have windows of half a second, which a machine that is busy misses: what has failed is
 * tried again alone.
 */
const runSide = async (args: readonly string[], home: string): Promise<Run> => {
  const text = await output([...args, "--requirements", revision], home);
  const scenarios: Scenario[] = [];
  for (const first of scenariosIn(text)) {
    let scenario = first;
    const counts = first.isScored || first.name.startsWith("tasks-");
    const tries = counts ? mostTries : 1;
    for (let n = 1; scenario.failed > 0 && n < tries; n++) scenario = await alone(scenario, args, home);
    scenarios.push(scenario);
  }
  return { scenarios, text };
};

/** Runs one side of the suite against a process of ours. */
const runAgainst = async (script: string, argsAt: (said: string) => readonly string[], home: string): Promise<Run> => {
  const { child, said } = await started(script);
  try {
    return await runSide(argsAt(said), home);
  } finally {
    await ended(child);
  }
};

const relayTo = (port: string): string => `${process.execPath} ${join(here, "relay.ts")} ${port}`;

/** Runs the suite. `text`: all that it said. */
export const runSuite = async (): Promise<{ readonly figures: Figures; readonly text: string }> => {
  const home = mkdtempSync(join(tmpdir(), "pawl-mcp-suite-"));
  try {
    const [server, client] = await Promise.all([
      runAgainst("server.ts", (url) => ["server", "--url", url], home),
      runAgainst("client.ts", (port) => ["client", "--command", relayTo(port)], home),
    ]);
    const tasks = checks(server.scenarios.filter(({ name }) => name.startsWith("tasks-")));
    const figures = { tasks, server: required(server.scenarios), client: required(client.scenarios) };
    return { figures, text: `${server.text}\n${client.text}` };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

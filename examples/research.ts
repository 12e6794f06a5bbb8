/**
 * `node examples/research.ts [FOLDER] [--slow]`: an agent reads pages in parallel, indexes them in the background, keeps a
 * cron monitor while that runs, and publishes a text after a person has approved it. Kill it at any moment and start it again
 * with the same folder: it continues. With `--slow` a chapter takes two seconds, so that there is time to kill it by hand, and
 * to watch it from another terminal with `pawl ls FOLDER/journal.db --follow`. The agent is a script: it makes the calls of a
 * model turn by turn.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openRuntime } from "@pawl/driver-node";
import type { SessionMessage } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { sessionTools } from "@pawl/tools";
import { DiskFiles, nodeWeb } from "@pawl/tools/node";
import { openLibrary, pages } from "./library.ts";
import { researchTools } from "./research-tool.ts";

const { positionals, values } = parseArgs({ options: { slow: { type: "boolean" } }, allowPositionals: true });
const [folder = mkdtempSync(join(tmpdir(), "pawl-research-")), given] = positionals;
mkdirSync(join(folder, "files"), { recursive: true });
console.log(`in ${folder}: kill this process at any time, and start it again with this folder`);
const library = given === undefined ? await openLibrary(folder) : { url: given, close: () => undefined };
const files = await DiskFiles.open(join(folder, "files"));

/** Records each message to the session once: after a crash a message may be told again. */
const heardFile = join(folder, "heard.jsonl");
const heard = new Set(existsSync(heardFile) ? readFileSync(heardFile, "utf8").trim().split("\n") : []);
const tell = async ({ key, text }: SessionMessage): Promise<void> => {
  if (heard.has(key)) return;
  heard.add(key);
  appendFileSync(heardFile, `${key}\n`);
  console.log(`told: ${text.split("\n")[0]}`);
};

const { tools, host } = sessionTools({
  files: () => files,
  web: nodeWeb({ allow: (address) => address === "127.0.0.1", firstByteMs: 10_000 }),
  tools: researchTools(folder, values.slow === true ? 2000 : 120),
});
const { runtime, close } = openRuntime({
  file: join(folder, "journal.db"),
  tools,
  host: { ...host, tell },
  // This agent is killed more often than usual, and should continue sooner.
  options: { minIntervalS: 1, crashPausesMs: [50] },
});
await runtime.recover();
const session = await runtime.session("research");

/** Makes one turn of the agent: its calls run in parallel. A repeated turn gets the recorded replies. */
const turn = async (request: string, ...calls: readonly { tool: string; args: Json }[]): Promise<readonly Json[]> => {
  const replies = await session.request(
    request,
    calls.map(({ tool, args }, i) => ({ label: `${request}-${i + 1}`, tool, args })),
  );
  console.log(`turn: ${request}`);
  return replies.map(({ output: { outcome } }) => {
    if (outcome.status === "success") return outcome.payload as Json;
    throw new Error(`${request}: ${JSON.stringify(outcome)}`);
  });
};

const progress = (async () => {
  for await (const frame of session.observe()) {
    if (frame.type !== "ephemeral" || frame.observation.type !== "run") continue;
    const { current = 0, total = 0, unit = "" } = frame.observation.progress ?? {};
    if (total > 0) console.log(`[${"#".repeat(current)}${".".repeat(total - current)}] ${current}/${total} ${unit}`);
  }
})();
progress.catch(() => undefined); // The subscription ends with the runtime.

/** A person who approves every call. */
const person = setInterval(() => {
  for (const row of session.state.calls.rows()) {
    if (row.phase !== "awaiting_approval") continue;
    const approval = { by: "ada", hash: row.approval.argsHash };
    session.approve(row.call.ref, approval).catch(() => undefined); // It was decided already.
  }
}, 50);

interface Started {
  readonly task_id: string;
}
const firstOf = <A>([first]: readonly Json[]): A => first as A;

const read = await turn(
  "fetch",
  ...pages.map((page) => ({ tool: "web_fetch", args: { url: `${library.url}/${page}`, as_markdown: true } })),
);
const watch = { cron_expression: "* * * * * *", timezone: "Europe/Kyiv" };
const index = { tool: "index_pages", args: { pages: [...pages] } };
const monitor = firstOf<Started>(
  await turn("watch", { tool: "spawn_background", args: { ...index, title: "Watch", schedule: watch } }),
);
const job = firstOf<Started>(await turn("index", { tool: "spawn_background", args: { ...index, title: "Index" } }));
const waited = firstOf<{ task: { state: string; summary: string } }>(
  await turn("wait", { tool: "wait_task", args: { task_id: job.task_id } }),
);
await turn("publish", { tool: "publish", args: { text: waited.task.summary } });
await turn("stop", { tool: "cancel_task", args: { task_id: monitor.task_id } });
const { tasks } = firstOf<{ tasks: readonly { display_name: string; state: string }[] }>(
  await turn("list", { tool: "list_tasks", args: {} }),
);
clearInterval(person);
const states = Object.fromEntries(tasks.map(({ display_name, state }) => [display_name, state]));
console.log(`done ${JSON.stringify({ read: read.length, summary: waited.task.summary, ...states })}`);
await close();
library.close();

/** The worker of the scene "Long work": background runs, each a process with its own log, and schedules. */
import { type OpenTab, openTab } from "@pawl/driver-browser";
import { type Runtime, type ToolDefinition, defineTool } from "@pawl/runtime";
import { eventLine, recordedOf } from "@pawl/sansio-core";
import { processScope } from "@pawl/sansio-core/driver";
import { cancelled, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { type FromLong, type LongView, type ToLong, messageOf } from "./message.ts";

const port = globalThis as unknown as Worker;
const send = (message: FromLong): void => port.postMessage(message, []);
const fault = (thrown: unknown): void => send({ type: "fault", message: messageOf(thrown) });

const pageMs = 700;
const pollMs = 300;
const maxCharacters = 400;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Reads pages one after the other. Each is a durable step, so that a new worker continues after the last one. */
const readPages: ToolDefinition = defineTool<{ readonly pages: number }>({
  name: "read_pages",
  durable: true,
  idempotent: true,
  execute: () => "this tool runs in the background",
  background: async ({ pages }, ctx, sink) => {
    for (let page = 1; page <= pages; page++) {
      if (ctx.signal.aborted) return cancelled(`cancelled before page ${page}`);
      await ctx.run(`page ${page}`, ({ signal }) => pause(pageMs, signal).then(() => null));
      await sink.output("stdout", `page ${page}: ${900 + ((page * 7919) % 400)} words\n`);
      await sink.progress({ current: page, total: pages, unit: "pages" });
    }
    return { read: pages };
  },
});

class LongHost {
  readonly #tab: OpenTab;
  readonly #session: string;
  readonly #runs = new Map<string, string>();

  constructor(tab: OpenTab, session: string) {
    this.#tab = tab;
    this.#session = session;
  }

  async follow(): Promise<void> {
    for await (const recorded of this.#tab.follow(`session:${this.#session}`, 0, new AbortController().signal)) {
      const { seq, event } = recorded;
      if (event.type === "run.requested") this.#runs.set(event.registration.id, event.registration.id);
      send({ type: "lines", lines: [{ seq, line: eventLine(recorded) }] });
    }
  }

  async #outputOf(run: string): Promise<string> {
    const lines = await this.#tab.journal.read(processScope(run), 1);
    const texts = lines.flatMap(({ line }) => {
      const recorded = pipe(parse(line, noLimits), E.chain(recordedOf));
      if (E.isLeft(recorded) || recorded.right.event.type !== "run.reported") return [];
      return recorded.right.event.output.map(({ delta }) => delta);
    });
    return texts.join("").slice(-maxCharacters);
  }

  async #view(runtime: Runtime): Promise<LongView> {
    const work = runtime.background.of(this.#session);
    const [tasks, schedules] = await Promise.all([work.tasks(), work.schedules()]);
    const { state } = await runtime.session(this.#session);
    const outputs: { [task: string]: string } = {};
    for (const { task, run } of state.background.tasks.values())
      if (run !== undefined) outputs[task.id] = await this.#outputOf(run.run);
    return { tasks, schedules, outputs };
  }

  async poll(): Promise<void> {
    const runtime = await this.#tab.runtime();
    send({ type: "writing" });
    for (;;) {
      send({ type: "view", view: await this.#view(runtime) });
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  async perform(message: Exclude<ToLong, { readonly type: "open" }>): Promise<void> {
    const { background } = await this.#tab.runtime();
    switch (message.type) {
      case "run": {
        const { title, pages } = message;
        const spawned = await background.spawn(this.#session, { tool: "read_pages", args: { pages }, title });
        if (spawned.status === "refused") throw new Error(spawned.message);
        return;
      }
      case "cancel":
        await background.of(this.#session).cancel(message.task);
        return;
      case "remind": {
        const at = Date.now() + message.inMs;
        const of = { id: crypto.randomUUID(), description: message.words, timezone: "UTC", scheduled_at: at };
        const answer = await background.of(this.#session).schedule(of);
        if (answer.status === "refused") throw new Error(answer.message);
      }
    }
  }
}

const open = async (session: string): Promise<LongHost> => {
  const tab = await openTab({
    name: "pawl-demo-long",
    tools: [readPages],
    host: {
      fault: (what, thrown) => fault(`${what}: ${String(thrown)}`),
      artifacts: async () => undefined,
      tell: async () => undefined, // The page reads these messages from the log.
    },
  });
  return new LongHost(tab, session);
};

let host: Promise<LongHost> | undefined;

port.addEventListener("message", ({ data }: MessageEvent<ToLong>) => {
  if (data.type === "open") {
    host = open(data.session);
    host.then((opened) => Promise.all([opened.follow(), opened.poll()])).catch(fault);
  } else host?.then((opened) => opened.perform(data)).catch(fault);
});

/** The end of background runs in a session of a runtime: files, task, and signals to the session. */
import type { Json, JsonObject } from "@pawl/tool-value";
import type { Task } from "@pawl/sansio-core/driver";
import {
  type SessionMessage,
  type ToolContext,
  connectionRequired,
  internalError,
  success,
  toolError,
} from "@pawl/runtime";
import type { BackgroundSink } from "@pawl/runtime/driver";
import { sessionTools } from "@pawl/tools";
import { type Adapters, caseProtocol, knownName, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import type { Process } from "../../../runtime/test/world.ts";
import { ToolWorld, finished, runner } from "../session/world.ts";
import { type Result, list, maybeText, object, text, textIn } from "./input.ts";

type Last = (ctx: ToolContext) => Promise<unknown>;

const stopped = ({ signal }: ToolContext): Promise<unknown> =>
  new Promise((resolve) => void signal.addEventListener("abort", () => resolve(finished("too late"))));

/** The ways a body ends. */
const ends: { readonly [outcome: string]: (of: Json | undefined) => Last } = {
  ok: (of) => {
    const { summary, result = null, raw_output: raw } = object(of);
    return async () => ({ summary: text(summary), result, ...(typeof raw === "string" ? { raw_output: raw } : {}) });
  },
  cancelled: () => stopped,
  canceled: () => stopped,
  tool_error: (message) => async () => toolError(text(message)),
  internal_error: (message) => async () => internalError(new Error(text(message))),
  connection_required: (provider) => async () => connectionRequired(text(provider)),
  failed_with_success_variant: () => async () => success(null),
  exception: (message) => async () => Promise.reject(new Error(text(message))),
};

const lastOf = (outcome: JsonObject): Last => {
  const names = Object.keys(outcome).map((name) => knownName("op", name, Object.keys(ends)));
  const [name = knownName("op", undefined, Object.keys(ends))] = names;
  return (ends[name] as (typeof ends)[string])(outcome[name]);
};

const writing = async (sink: BackgroundSink, writes: Json | undefined): Promise<void> => {
  for (const write of list(writes)) {
    const [stream, delta] = list(write);
    await sink.output(text(stream), textIn(delta));
  }
};

class RunWorld extends ToolWorld {
  readonly #gate = Promise.withResolvers<void>();

  /** Opens a host that can be signalled, unless the case has none. */
  open(last: Last, { writes, platform_store: platform }: JsonObject): Process {
    const body = async (ctx: ToolContext, sink: BackgroundSink): Promise<unknown> => {
      await writing(sink, writes);
      await this.#gate.promise;
      return last(ctx);
    };
    const { tools, host } = sessionTools({ files: () => this.files, tools: [runner("bg", body)] });
    const tell = async (said: SessionMessage): Promise<void> => void this.heard.push(said);
    return this.start(tools, { host: platform === null ? host : { ...host, tell } });
  }

  /** Puts a file in the place of the run's folder. The case's own name for the run stands for this one. */
  async #block(path: string | undefined, run: string): Promise<void> {
    const place = path?.replace(/^(?<home>\/\.background\/)[^/]+/, `$<home>${run}`);
    if (place !== undefined) await this.files.write(place, new Uint8Array(), { encoding: "text" });
  }

  /** Returns the task of a run after its end; cancels the run first if the case says so. */
  async run(input: JsonObject): Promise<Task> {
    const outcome = object(input["outcome"]);
    const last = lastOf(outcome);
    const { background } = this.open(last, input).runtime;
    const signal = input["signal_on_completion"] !== false;
    const spawned = await background.spawn("s", { tool: "bg", args: {}, signal });
    if (spawned.status === "refused") throw new Error(spawned.message);
    await this.#block(maybeText(input["preexisting_file"]), spawned.run);
    this.#gate.resolve();
    await this.quiet(20);
    if (last === stopped) await background.of("s").cancel(spawned.task);
    for (let i = 0; i < 100; i++) {
      const task = await background.of("s").task(spawned.task);
      if (task?.finished_at !== undefined) return task;
      await this.quiet(10);
      this.platform.advance(500);
    }
    throw new Error("the run did not end");
  }

  async file(path: string | undefined): Promise<string | undefined> {
    return path === undefined ? undefined : this.text(path);
  }
}

/** Returns the line of a message that begins with a label. */
const lineOf = (message: string, name: string): string | undefined =>
  message
    .split("\n")
    .find((line) => line.startsWith(`- ${name}: `))
    ?.slice(name.length + 4);

const finalized = async (input: JsonObject): Promise<Result> => {
  const world = new RunWorld(caseProtocol());
  const { state, summary, result_path: path, error } = await world.run(input);
  await world.quiet(20);
  const heard = world.heard.map((message) => message.text);
  const result = await world.file(path);
  const [said = ""] = heard;
  return E.right({
    output_log: await world.file(path?.replace(/result\.json$/, "output.log")),
    result_json_text: result,
    result_json: result === undefined ? undefined : (JSON.parse(result) as unknown),
    task_update: { state, summary, ...(path === undefined ? {} : { result_path: "<result_path>" }), error },
    task_update_state: state,
    task_state: state,
    error,
    signal_status: /^Background run (?<status>\w+)\.$/m.exec(said)?.groups?.["status"],
    signal_summary: lineOf(said, "summary"),
    signal_sent: heard.length > 0,
    messages: heard.length,
  });
};

/** Counts the messages to a session about a run without a signal. */
export const messagesOf = async (input: JsonObject): Promise<number> => {
  const world = new RunWorld(caseProtocol());
  await world.run({ ...input, outcome: { ok: { summary: text(input["summary"]) } } });
  await world.quiet(20);
  return world.heard.length;
};

export const finalizeAdapters: Adapters = {
  "tools.finalize": withFields(
    ["outcome", "writes", "preexisting_file", "signal_on_completion", "platform_store"],
    finalized,
  ),
};

/** `pawl prompt`: prints what a model is told, now or in a model call that is on record. No model is asked for that. */
import { Refused, importLog, memoryJournal } from "@pawl/runtime";
import {
  type PromptQuestion,
  type PromptSource,
  type ShownPrompt,
  Values,
  foldLines,
  promptHash,
  recordedIn,
  shownPrompt,
} from "@pawl/runtime/driver";
import type { Event } from "@pawl/sansio-core";
import { agentTaskIn, promptOf, promptPlan } from "@pawl/sansio-core/driver";
import { type Json, hashText, stringify } from "@pawl/tool-value";
import { askHost, hostOptions } from "../act/remote.ts";
import type { Command } from "../command.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { refuseSealed } from "../log/replay-log.ts";
import { type LogSource, placeOf, placeOptions, withLog } from "../place.ts";
import type { Terminal } from "../terminal.ts";

/** Reads which model call is meant: a turn, or a turn and the number of its call. */
const questionIn = (call: string | undefined): PromptQuestion => {
  if (call === undefined) return {};
  const { request, n } = /^(?<request>.+?)(?:\/(?<n>\d+))?$/s.exec(call)?.groups ?? {};
  if (request === undefined) throw usageError("expected a turn, as turn-1 or turn-1/2, found an empty name");
  return n === undefined ? { request } : { request, n: Number(n) };
};

/** Makes prompts of a log, whose large values are brought along. */
const sourceOf = async (log: LogSource): Promise<PromptSource> => {
  const text = [...(await log.text())];
  refuseSealed(text, `${log.name} shows no prompt: its values are sealed`, exit.unreachable);
  const journal = memoryJournal();
  const { scope } = await importLog(journal, "prompt", text);
  const { id } = scope;
  const lines = await journal.read(id, 1);
  const values = new Values({ scope: id, blobs: journal.blobs, limit: Infinity, hashText });
  const events = new Map<number, Event>();
  for (const line of lines) events.set(line.seq, await values.of(recordedIn(id, line).event));
  const read = (seq: number): Event => {
    const event = events.get(seq);
    if (event === undefined) throw new CliError("gone", `event ${seq} is not in the log`, { exit: exit.unreachable });
    return event;
  };
  return {
    scope: id,
    state: foldLines(id, lines),
    planOf: promptPlan,
    eventsOfTypes: async (types) =>
      lines.map((line) => recordedIn(id, line)).filter(({ event }) => types.has(event.type)),
    stateBefore: async (seq) =>
      foldLines(
        id,
        lines.filter((line) => line.seq < seq),
      ),
    agent: async (seq) => {
      const event = read(seq);
      if (event.type !== "agent.published")
        throw new CliError("gone", `event ${seq} publishes no agent`, { exit: exit.wrong });
      return { name: event.agent, spec: event.spec };
    },
    form: async ({ conversation: { running } }, spec) => {
      const begun = running === undefined ? undefined : read(running.born);
      const own = begun?.type === "turn.submitted" ? begun.output : begun && agentTaskIn(begun)?.output;
      return own ?? spec.output;
    },
    messages: async (plan) => promptOf(plan, read),
    hash: (head, messages) => promptHash(hashText, head, messages),
  };
};

/** Makes the prompt, or says that there is none. */
const promptIn = async (log: LogSource, question: PromptQuestion): Promise<ShownPrompt> => {
  try {
    return await shownPrompt(await sourceOf(log), question);
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    throw new CliError(thrown.code, thrown.message, { exit: exit.unreachable });
  }
};

const jsonOf = ({ toolChoice, ...prompt }: ShownPrompt): object => ({ ...prompt, tool_choice: toolChoice });

const contentWords = (content: unknown): readonly string[] => {
  if (typeof content === "string") return content.split("\n");
  return (content as readonly { readonly type: string; readonly text?: string }[]).flatMap((part) =>
    part.type === "text" ? (part.text ?? "").split("\n") : [stringify(part as unknown as Json)],
  );
};

const words = (prompt: ShownPrompt, { paint }: Terminal): readonly string[] => {
  const { request, n, attempt, agent, provider, model, tools, toolChoice, hash, messages } = prompt;
  const of = n === undefined ? "of the next model call" : `of model call ${n} of turn ${request}, attempt ${attempt}`;
  const names = tools.map(({ name }) => name).join(", ");
  return [
    `${paint("bold", `${provider}/${model}`)}  ${of}; agent ${agent}, ${hash}`,
    `tools: ${names === "" ? "none" : `${names} (${stringify(toolChoice)})`}`,
    ...messages.flatMap(({ role, content }) => [
      paint("cyan", role),
      ...contentWords(content).map((line) => `  ${line}`),
    ]),
  ];
};

export const promptCommand: Command = {
  name: "prompt",
  summary: "Show what a model is told, in a call that is on record or the next one",
  usage: "<scope> [turn[/n]]",
  minArgs: 1,
  maxArgs: 2,
  options: { ...placeOptions, ...hostOptions },
  json: [
    {
      what: "The prompt",
      fields: "request?, n?, attempt?, agent, provider, model, settings, messages, tools, tool_choice, output, hash",
    },
  ],
  examples: [
    ["pawl prompt alice -j journal.db", "what the model would be told now"],
    ["pawl prompt alice turn-1/2 -j journal.db", "what it was told in the second model call of turn-1"],
    ["pawl prompt alice turn-1 --host ws://127.0.0.1:7777", "ask a host: the last model call of turn-1"],
  ],
  run: async (input, terminal) => {
    const question = questionIn(input.positionals[1]);
    const print = (prompt: ShownPrompt): void => terminal.print(jsonOf(prompt), () => words(prompt, terminal));
    const asked = await askHost(input, terminal, (session) => session.prompt(question));
    if (asked !== undefined) print(asked.answer);
    else
      await withLog(placeOf(input.positionals[0] ?? "", input, terminal), async (log) =>
        print(await promptIn(log, question)),
      );
    return exit.fine;
  },
};

/**
 * A prompt: what a model is shown. It is never recorded, since it is a pure projection of the log: the entries of a frame,
 * with the events that they refer to. What a prompt is like belongs to the protocol of its scope, and is frozen with it.
 *
 * In one frame, without a compaction between them, with one agent and one provider, a later prompt begins with an earlier one:
 * so that providers can cache them.
 */
import {
  type AttachmentRef,
  type Json,
  type ModelToolReturnPart,
  ModelToolReturnPart as ReturnPartCodec,
  array,
  canonicalJson,
  lift,
  modelPartsFromOutput,
} from "@pawl/tool-value";
import { nodeOf } from "./control.ts";
import type { Entry, ProviderDecision, ResultRef, Said } from "./frame.ts";
import {
  type AnswerCall,
  type AnswerPart,
  type Message,
  type Meta,
  type Part,
  approvalRequests,
  argsOf,
  decoded,
  localCalls,
  textOf,
} from "./message.ts";
import { type Plan, type Read, messagesIn, outputOf, partsOf, switchIn, PromptIds, texts } from "./plan.ts";

type Labelled = { readonly meta?: Meta };

export type ResultOutput =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "error"; readonly text: string; readonly files?: readonly AttachmentRef[] }
  | { readonly type: "content"; readonly parts: readonly ContentPart[] };
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly ref: AttachmentRef };

export type PromptPart =
  | Exclude<AnswerPart, { readonly type: "tool-call" | "tool-result" | "source" | "approval-request" }>
  | ({ readonly type: "tool-call"; readonly id: string; readonly tool: string; readonly args: Json } & Labelled & {
        readonly provider?: true;
      })
  | ({
      readonly type: "tool-result";
      readonly id: string;
      readonly tool: string;
      readonly output: { readonly type: "json" | "error-json"; readonly value: Json };
    } & Labelled);

export type ResultPart =
  | { readonly type: "tool-result"; readonly id: string; readonly tool: string; readonly output: ResultOutput }
  | { readonly type: "approval"; readonly approval_id: string; readonly approved: boolean; readonly reason?: string };

export type PromptMessage =
  | ({ readonly role: "system"; readonly content: string } & Labelled)
  | ({ readonly role: "user"; readonly content: readonly Part[] } & Labelled)
  | ({ readonly role: "assistant"; readonly content: readonly (PromptPart | Part)[] } & Labelled)
  | { readonly role: "tool"; readonly content: readonly ResultPart[] };

const meta = (of: Labelled): Labelled => (of.meta === undefined ? {} : { meta: of.meta });

// Messages of hosts.

const partsOfContent = (content: Message["content"]): readonly Part[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const shownMessage = (message: Message): PromptMessage => {
  const { role, content } = message;
  const parts = partsOfContent(content);
  if (role !== "system") return { role, content: parts, ...meta(message) };
  return { role, content: parts.map((part) => (part.type === "text" ? part.text : "")).join(""), ...meta(message) };
};

const userMessage = (text: string): PromptMessage => ({ role: "user", content: [{ type: "text", text }] });

// Answers.

const shownCall = (call: AnswerCall, id: string): PromptPart => {
  const { tool, provider } = call;
  const shown = { type: "tool-call", id, tool, args: argsOf(call), ...meta(call) } as const;
  return provider === true ? { ...shown, provider } : shown;
};

const shownPart = (part: AnswerPart, isItsOwn: boolean, ids: PromptIds): PromptPart | undefined => {
  switch (part.type) {
    case "text":
      return part.text !== "" || (part.meta !== undefined && isItsOwn) ? part : undefined;
    case "reasoning":
    case "reasoning-file":
    case "custom":
      return isItsOwn ? part : undefined;
    case "tool-call":
      return shownCall(part, ids.call(part));
    case "tool-result": {
      const { id, tool, result: value, error } = part;
      const type = error === true ? "error-json" : "json";
      return { type: "tool-result", id: ids.ofProvider(id), tool, output: { type, value }, ...meta(part) };
    }
    case "file":
      return part;
    case "source":
    case "approval-request":
      return undefined;
  }
};

// Results.

const contentPart = (part: ModelToolReturnPart): ContentPart => {
  if (part.type === "text") return part;
  const { type: _, ...ref } = part;
  return { type: "file", ref };
};

const returnParts = array(ReturnPartCodec);

const withLine = (line: string, parts: readonly ContentPart[]): readonly ContentPart[] => {
  const [first, ...rest] = parts;
  if (line === "" || parts.length === 0) return line === "" ? parts : [{ type: "text", text: line }];
  return first?.type === "text"
    ? [{ type: "text", text: line + first.text }, ...rest]
    : [{ type: "text", text: line }, ...parts];
};

const successResult = (parts: readonly ContentPart[]): ResultOutput => {
  const [first, ...rest] = parts;
  if (first === undefined) return { type: "text", text: "" };
  return first.type === "text" && rest.length === 0 ? first : { type: "content", parts };
};

const errorResult = (parts: readonly ContentPart[]): ResultOutput => {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const files = parts.flatMap((part) => (part.type === "file" ? [part.ref] : []));
  return files.length === 0 ? { type: "error", text } : { type: "error", text, files };
};

/** Shows an output as a model reads it: of one that nobody has, that the call did not run. */
export const resultOf = (of: ResultRef, read: Read): ResultOutput => {
  const output = outputOf(of, read);
  if (output === undefined) return { type: "error", text: texts.notRun };
  const projected = of.parts === undefined ? undefined : decoded(returnParts, of.parts);
  const parts = (projected ?? modelPartsFromOutput(output)).map(contentPart);
  const line = of.edited === undefined ? "" : texts.edited(canonicalJson(lift(of.edited)));
  const shown = withLine(line, parts);
  return output.outcome.status === "success" ? successResult(shown) : errorResult(shown);
};

const decisionPart = (parts: readonly AnswerPart[], { at, approved, reason }: ProviderDecision): ResultPart[] => {
  const approval_id = approvalRequests(parts)[at]?.approval_id;
  if (approval_id === undefined) return [];
  return [{ type: "approval", approval_id, approved, ...(reason === undefined ? {} : { reason }) }];
};

type Results = Extract<Entry, { readonly type: "results" }>;

/** Writes a prompt, entry by entry. */
class Writer {
  readonly messages: PromptMessage[] = [];
  readonly #ids = new PromptIds();
  readonly #read: Read;
  readonly #provider: string;

  constructor(read: Read, provider: string) {
    this.#read = read;
    this.#provider = provider;
  }

  say(...messages: readonly PromptMessage[]): void {
    this.messages.push(...messages);
  }

  /** An answer, and behind it the results of its calls, in their order: each local call has one. */
  answer(entry: Extract<Entry, { readonly type: "answer" }>, results: Results | undefined): void {
    const parts = partsOf(entry, this.#read);
    this.#ids.begin(entry.n);
    const content = parts.flatMap((part) => shownPart(part, entry.provider === this.#provider, this.#ids) ?? []);
    if (content.length > 0) this.say({ role: "assistant", content });
    const calls = localCalls(parts).map((call, i): ResultPart => {
      const output = resultOf(results?.of[i] ?? {}, this.#read);
      return { type: "tool-result", id: this.#ids.local[i] ?? call.id, tool: call.tool, output };
    });
    const shown = [...calls, ...(results?.decisions ?? []).flatMap((one) => decisionPart(parts, one))];
    if (shown.length > 0) this.say({ role: "tool", content: shown });
  }

  #text(said: Said): string {
    return textOf(partsOf(said, this.#read));
  }

  #repair(seq: number): string {
    const event = this.#read(seq);
    const verdict = event.type === "model.answered" ? event.verdict : undefined;
    return texts.repair(verdict !== undefined && "invalid" in verdict ? verdict.invalid : texts.noVerdict);
  }

  /** Any other entry; results were written with their answer. */
  entry(entry: Exclude<Entry, { readonly type: "answer" }>): void {
    switch (entry.type) {
      case "user":
        return this.say(...messagesIn(this.#read(entry.seq), entry.given).map(shownMessage));
      case "task":
        return this.say(userMessage(switchIn(entry.of, this.#read)?.task ?? ""));
      case "node": {
        const node = nodeOf(switchIn(entry.of, this.#read)?.initial_nodes[entry.at] ?? null);
        return node?.type === "message" ? this.say(shownMessage(node.message)) : undefined;
      }
      case "cut": {
        const text = this.#text(entry);
        return text === "" ? undefined : this.say({ role: "assistant", content: [{ type: "text", text }] });
      }
      case "results":
        return undefined;
      case "wrap_up":
        return this.say(userMessage(texts.wrapUp));
      case "repair":
        return this.say(userMessage(this.#repair(entry.seq)));
      case "summary":
        return this.say(userMessage(texts.summary(this.#text(entry))));
      case "left_out":
        return this.say(userMessage(texts.leftOut));
    }
  }
}

const writeEntries = (writer: Writer, entries: readonly Entry[]): void => {
  for (const [i, entry] of entries.entries()) {
    const next = entries[i + 1];
    if (entry.type === "answer") writer.answer(entry, next?.type === "results" ? next : undefined);
    else writer.entry(entry);
  }
};

/** Writes the messages of a prompt. */
export const promptOf = (
  { agent, provider, entries, summarizes, prefix }: Plan,
  read: Read,
): readonly PromptMessage[] => {
  const published = read(agent);
  const spec = published.type === "agent.published" ? published.spec : undefined;
  const writer = new Writer(read, provider);
  if (spec?.system !== undefined && spec.system !== "") writer.say({ role: "system", content: spec.system });
  writeEntries(writer, entries);
  if (summarizes) writer.say(userMessage(spec?.compaction?.system ?? texts.summarize));
  if (prefix !== "") writer.say({ role: "assistant", content: [{ type: "text", text: prefix }] });
  return writer.messages;
};

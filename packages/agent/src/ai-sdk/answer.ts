/**
 * Answers as they come out of the AI SDK's models. Text and reasoning are said as they come; calls, results, sources and files
 * are parts. What HTTP said is left out: the prompt is in it.
 */
import { type ModelAnswer, type ModelCall, ModelError } from "@pawl/runtime/driver";
import type { AnswerPart, Finish, Usage } from "@pawl/sansio-core/driver";
import { type Json, jsonFromJs, parse, parseMediaType } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Fields, fieldsOf, numberIn, textIn } from "./shape.ts";

/** Returns a value of a provider as JSON; undefined where it is none. */
const jsonOf = (u: unknown): Json | undefined => {
  const json = u === undefined ? undefined : jsonFromJs(u);
  return json === undefined || E.isLeft(json) ? undefined : json.right;
};

type Meta = { readonly [provider: string]: Json };

const metaOf = ({ providerMetadata }: Fields): { readonly meta?: Meta } => {
  const meta = jsonOf(providerMetadata);
  return typeof meta === "object" && meta !== null && !Array.isArray(meta) ? { meta: meta as Meta } : {};
};

const reasons: ReadonlySet<string> = new Set<Finish["reason"]>([
  "stop",
  "length",
  "tool-calls",
  "content-filter",
  "error",
  "interrupted",
  "other",
]);

/** Reads a finish reason: a word in V2, with the provider's own beside it since. */
const finishOf = (said: unknown): Finish => {
  const { unified = said, raw } = fieldsOf(said);
  const own = typeof raw === "string" ? { raw } : {};
  const reason = typeof unified === "string" && reasons.has(unified) ? (unified as Finish["reason"]) : "other";
  return { reason, ...own };
};

const counted = (of: { readonly [K in keyof Usage]?: number | undefined }): Usage =>
  Object.fromEntries(Object.entries(of).filter(([, count]) => count !== undefined));

/** Reads what was used: numbers in V2, numbers of two kinds since. */
const usageOf = (said: unknown): Usage => {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = fieldsOf(said);
  if (typeof inputTokens !== "object" && typeof outputTokens !== "object")
    return counted({
      input_tokens: numberIn(inputTokens),
      cached_input_tokens: numberIn(cachedInputTokens),
      output_tokens: numberIn(outputTokens),
      reasoning_tokens: numberIn(reasoningTokens),
    });
  const [input, output] = [fieldsOf(inputTokens), fieldsOf(outputTokens)];
  return counted({
    input_tokens: numberIn(input["total"]),
    cached_input_tokens: numberIn(input["cacheRead"]),
    cache_write_tokens: numberIn(input["cacheWrite"]),
    output_tokens: numberIn(output["total"]),
    reasoning_tokens: numberIn(output["reasoning"]),
  });
};

const flag = <K extends string>(key: K, value: unknown): { readonly [k in K]?: true } =>
  (value === true ? { [key]: true } : {}) as { readonly [k in K]?: true };

/** A call's arguments, or its text where that is no JSON. */
const inputOf = (input: unknown): { readonly args: Json } | { readonly input: string } => {
  if (typeof input !== "string") return { args: jsonOf(input) ?? null };
  if (input.trim() === "") return { args: {} };
  const json = parse(input);
  return E.isRight(json) ? { args: json.right } : { input };
};

const bytesOf = (data: unknown): Uint8Array => {
  const { type, data: tagged } = fieldsOf(data);
  const given = type === "data" ? tagged : data;
  if (given instanceof Uint8Array) return given;
  if (typeof given === "string") return Uint8Array.from(atob(given), (char) => char.charCodeAt(0));
  throw new ModelError("invalid_answer", "the model's file has no bytes: expected them, or base64");
};

/** Takes the parts of a stream, or of a whole answer, one after the other. */
export class AnswerTaker {
  readonly #call: ModelCall;
  readonly #blocks = new Map<string, number>();
  #next = 0;
  #meta: { readonly meta?: Meta } = {};
  #finish: Finish | undefined;
  #usage: Usage = {};
  #warnings: readonly Json[] = [];
  #providerId: string | undefined;
  #modelId: string | undefined;

  constructor(call: ModelCall) {
    this.#call = call;
  }

  /** Begins a block, or goes on with it. */
  #say(type: "text" | "reasoning", part: Fields, text: string): void {
    const id = `${type} ${textIn(part["id"]) ?? ""}`;
    const known = this.#blocks.get(id);
    const b = known ?? this.#next++;
    this.#blocks.set(id, b);
    const meta = metaOf(part);
    if (known !== undefined && text === "" && meta.meta === undefined) return;
    this.#call.say(known === undefined ? { b, type, text, ...meta } : { b, text, ...meta });
  }

  /** A block of this id that comes later is another one. */
  #end(type: "text" | "reasoning", part: Fields): void {
    this.#say(type, part, "");
    this.#blocks.delete(`${type} ${textIn(part["id"]) ?? ""}`);
  }

  #add(part: AnswerPart): void {
    this.#call.say({ b: this.#next++, part });
  }

  async #file(type: "file" | "reasoning-file", part: Fields): Promise<void> {
    const { url, type: tag } = fieldsOf(part["data"]);
    if (tag === "url") return this.#add({ type: "source", value: { type: "file", url: String(url) } });
    const media_type = parseMediaType(textIn(part["mediaType"]) ?? "application/octet-stream");
    const ref = await this.#call.keep(bytesOf(part["data"]), { media_type });
    return this.#add({ type, ref, ...metaOf(part) });
  }

  #response(part: Fields): void {
    this.#modelId = textIn(part["modelId"]) ?? this.#modelId;
    const id = textIn(part["id"]);
    if (id === undefined || id === this.#providerId) return;
    this.#providerId = id;
    this.#call.identified(id);
  }

  #toolCall(part: Fields): void {
    this.#add({
      type: "tool-call",
      id: textIn(part["toolCallId"]) ?? "",
      tool: textIn(part["toolName"]) ?? "",
      ...inputOf(part["input"]),
      ...flag("provider", part["providerExecuted"]),
      ...flag("dynamic", part["dynamic"]),
      ...metaOf(part),
    });
  }

  /** A result that another one will follow is shown to nobody. */
  #toolResult(part: Fields): void {
    if (part["preliminary"] === true) return;
    this.#add({
      type: "tool-result",
      id: textIn(part["toolCallId"]) ?? "",
      tool: textIn(part["toolName"]) ?? "",
      result: jsonOf(part["result"]) ?? null,
      ...flag("error", part["isError"]),
      ...metaOf(part),
    });
  }

  #approval(part: Fields): void {
    const [approval_id, id] = [textIn(part["approvalId"]) ?? "", textIn(part["toolCallId"]) ?? ""];
    this.#add({ type: "approval-request", approval_id, id, ...metaOf(part) });
  }

  #source(part: Fields): void {
    const { type: _, providerMetadata: __, ...value } = part;
    this.#add({ type: "source", value: jsonOf(value) ?? null, ...metaOf(part) });
  }

  /** Takes a part. What is of no known type is left out. */
  async take(part: Fields): Promise<void> {
    switch (part["type"]) {
      case "text-start":
        return this.#say("text", part, "");
      case "text-delta":
        return this.#say("text", part, textIn(part["delta"]) ?? "");
      case "text-end":
        return this.#end("text", part);
      case "reasoning-start":
        return this.#say("reasoning", part, "");
      case "reasoning-delta":
        return this.#say("reasoning", part, textIn(part["delta"]) ?? "");
      case "reasoning-end":
        return this.#end("reasoning", part);
      case "tool-call":
        return this.#toolCall(part);
      case "tool-result":
        return this.#toolResult(part);
      case "tool-approval-request":
        return this.#approval(part);
      case "source":
        return this.#source(part);
      case "custom":
        return this.#add({ type: "custom", kind: textIn(part["kind"]) ?? "", ...metaOf(part) });
      case "file":
      case "reasoning-file":
        return this.#file(part["type"], part);
      case "stream-start":
        return void this.#warn(part["warnings"]);
      case "response-metadata":
        return this.#response(part);
      case "finish":
        return this.#finished(part["finishReason"], part["usage"], part);
      case "error":
        throw part["error"];
    }
  }

  #warn(warnings: unknown): void {
    this.#warnings = Array.isArray(warnings) ? warnings.flatMap((warning) => jsonOf(warning) ?? []) : [];
  }

  #finished(reason: unknown, usage: unknown, part: Fields): void {
    this.#finish = finishOf(reason);
    this.#usage = usageOf(usage);
    this.#meta = metaOf(part);
  }

  /** Takes an answer that came whole. */
  async takeWhole(answer: Fields): Promise<void> {
    for (const part of Array.isArray(answer["content"]) ? answer["content"] : []) {
      const fields = fieldsOf(part);
      const { type, text } = fields;
      if (type !== "text" && type !== "reasoning") await this.take(fields);
      else {
        this.#say(type, fields, textIn(text) ?? "");
        this.#blocks.clear();
      }
    }
    this.#warn(answer["warnings"]);
    this.#response(fieldsOf(answer["response"]));
    this.#finished(answer["finishReason"], answer["usage"], answer);
  }

  /** Returns the answer; all of it was said. */
  answer(): ModelAnswer {
    if (this.#finish === undefined)
      throw new ModelError("transport", "the model's stream ended without saying how it finished");
    return {
      pieces: [],
      finish: this.#finish,
      usage: this.#usage,
      ...(this.#providerId === undefined ? {} : { provider_id: this.#providerId }),
      ...(this.#modelId === undefined ? {} : { model_id: this.#modelId }),
      ...this.#meta,
      ...(this.#warnings.length === 0 ? {} : { warnings: this.#warnings }),
    };
  }
}

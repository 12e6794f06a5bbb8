/**
 * Models that follow a script, for tests and examples. The answer depends on the prompt alone: the n-th of the script is the
 * n-th answer of the conversation. So another process that goes on after a crash, or a fork, is answered the same.
 */
import { type ModelAnswer, type ModelCall, ModelError } from "@pawl/runtime/driver";
import type { AnswerPart, FailureClass, Finish, Usage } from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";
import type { AgentModel, ModelOptions } from "./model.ts";

export interface ScriptedCall {
  readonly tool: string;
  readonly args?: Json;
  /** As the model names the call. Default: `call_{n}_{i}`, of answer n. */
  readonly id?: string;
}

/** An answer of a script; a text is an answer that says it. */
export type ScriptedAnswer =
  | string
  | {
      readonly reasoning?: string;
      readonly text?: string;
      readonly calls?: readonly ScriptedCall[];
      /** Default: `tool-calls` where there are calls, else `stop`. */
      readonly finish?: Finish["reason"];
      /** Default: a token for four characters of the prompt and of the answer. */
      readonly usage?: Usage;
      /** Failures that come before the answer, an attempt each. */
      readonly fails?: readonly {
        readonly class: FailureClass;
        readonly message?: string;
        readonly retryAfterMs?: number;
      }[];
    };

/** A script: answers in order, or a function of what the model is asked. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((call: ModelCall, n: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptOptions extends ModelOptions {
  /** Default: `scripted`. */
  readonly provider?: string;
  /** Default: `script`. */
  readonly model?: string;
  /** The pause before each word. Default: none. */
  readonly wordMs?: number;
  /** Told of each question, before it is answered. */
  readonly asked?: (call: ModelCall) => void;
}

/** Counts the answers that a prompt shows. The text that an answer goes on from is none yet. */
const answersIn = ({ prompt, prefix }: ModelCall): number =>
  prompt.filter(({ role }) => role === "assistant").length - Number(prefix !== undefined);

/** Returns how many failures of the model call are on record: the number behind its key's last dot. */
const failuresOf = ({ key }: ModelCall): number => Number(key.slice(key.lastIndexOf(".") + 1));

const answerAt = async (script: Script, call: ModelCall, n: number): Promise<Exclude<ScriptedAnswer, string>> => {
  const found = typeof script === "function" ? await script(call, n) : script[n - 1];
  if (found !== undefined) return typeof found === "string" ? { text: found } : found;
  const had = typeof script === "function" ? "has none" : `has ${script.length}`;
  throw new ModelError("invalid_request", `the conversation wants answer ${n}, and the script ${had}`);
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", leave);
      resolve();
    }, ms);
    signal.addEventListener("abort", leave, { once: true });
  });

const tokens = (text: string): number => Math.ceil(text.length / 4);

class Answering {
  readonly #call: ModelCall;
  readonly #wordMs: number;
  #block = 0;
  #said = "";

  constructor(call: ModelCall, wordMs: number) {
    this.#call = call;
    this.#wordMs = wordMs;
  }

  /** Says a text word by word. */
  async #say(type: "text" | "reasoning", text: string): Promise<void> {
    if (text === "") return;
    const b = this.#block++;
    for (const [at, word] of (text.match(/\s*\S+\s*$|\s*\S+|\s+$/gu) ?? []).entries()) {
      if (this.#wordMs > 0) await pause(this.#wordMs, this.#call.signal);
      this.#call.signal.throwIfAborted();
      this.#call.say(at === 0 ? { b, type, text: word } : { b, text: word });
    }
    this.#said += text;
  }

  async answer(of: Exclude<ScriptedAnswer, string>, n: number): Promise<ModelAnswer> {
    const { reasoning = "", text = "", calls = [], finish, usage } = of;
    const { prefix = "" } = this.#call;
    await this.#say("reasoning", prefix === "" ? reasoning : "");
    await this.#say("text", text.startsWith(prefix) ? text.slice(prefix.length) : text);
    const parts = calls.map(({ tool, args = {}, id }, i): AnswerPart => ({
      type: "tool-call",
      id: id ?? `call_${n}_${i}`,
      tool,
      args,
    }));
    return {
      pieces: parts.map((part) => ({ b: this.#block++, part })),
      finish: { reason: finish ?? (parts.length > 0 ? "tool-calls" : "stop") },
      usage: usage ?? this.#usage(parts),
    };
  }

  #usage(parts: readonly AnswerPart[]): Usage {
    const { prompt } = this.#call;
    const calls = parts.length === 0 ? "" : stringify(parts as unknown as Json);
    return {
      input_tokens: tokens(stringify(prompt as unknown as Json)),
      output_tokens: tokens(this.#said + calls),
    };
  }
}

/** Makes a model that answers as a script says. */
export const scriptedModel = (script: Script, options: ScriptOptions = {}): AgentModel => {
  const { provider = "scripted", model = "script", wordMs = 0, asked, ...how } = options;
  const ask = async (call: ModelCall): Promise<ModelAnswer> => {
    asked?.(call);
    const n = answersIn(call) + 1;
    const of = await answerAt(script, call, n);
    const failure = of.fails?.[failuresOf(call)];
    if (failure === undefined) return new Answering(call, wordMs).answer(of, n);
    const { class: kind, message = `the script fails as ${kind}`, retryAfterMs = 0 } = failure;
    throw new ModelError(kind, message, { retryAfterMs });
  };
  return { ...how, provider, model, port: { ask } };
};

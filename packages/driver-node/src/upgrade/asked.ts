/** What a request of a body asked for, as a person tells it from another: short, and only where that is at hand. */
import type { EffectSpec, Recorded } from "@pawl/sansio-core";

const most = 100;
const shortly = (text: string): string => (text.length > most ? `${text.slice(0, most)}…` : text);

const jsonText = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));

interface Called {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
}

const callsText = (calls: readonly Called[]): string =>
  calls.map(({ id, tool, args }) => `${id}: ${tool} ${jsonText(args)}`).join(", ");

const effectText = (effect: EffectSpec): string | undefined => {
  switch (effect.kind) {
    case "sleep":
      return `${effect.ms} ms`;
    case "batch":
      return callsText(effect.calls);
    case "step":
    case "host":
      return jsonText(effect.input);
    default:
      return undefined;
  }
};

/** By the method of the context that it was asked with. */
const argumentsText = (method: string, args: readonly unknown[]): string | undefined => {
  const [first, second] = args;
  switch (method) {
    case "sleep":
      return `${String(first)} ms`;
    case "batch":
      return Array.isArray(first)
        ? callsText(first.map(({ id, toolId, args: of }) => ({ id, tool: toolId, args: of })))
        : undefined;
    case "runJson":
      return jsonText(second);
    default:
      return undefined;
  }
};

/** A body may hand in what no JSON is: then its request is refused, and there is nothing to tell. */
export const askedText = (method: string, args: readonly unknown[]): string | undefined => {
  try {
    const text = argumentsText(method, args);
    return text === undefined ? undefined : shortly(text);
  } catch {
    return undefined;
  }
};

/** What is recorded under a key of a call; of several attempts the last. */
export type RecordedText = (call: string, key: string) => string | undefined;

export const recordedTexts =
  (events: readonly Recorded[]): RecordedText =>
  (call, key) => {
    for (const { event } of events.toReversed()) {
      if (event.type !== "effect.requested" || event.call !== call || event.key !== key) continue;
      const text = effectText(event.effect);
      return text === undefined ? undefined : shortly(text);
    }
    return undefined;
  };

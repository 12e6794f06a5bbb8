/**
 * Looks at each prompt that a model of the core simulation is shown.
 *
 *   PR1  each call of a model that is local has its result in the next message, and no other result is there
 *   PR2  ids of local calls are distinct; no message is without parts; the agent's system text stands first; the last message
 *        is of the assistant only where a provider's own call has no result yet, or where the answer goes on from it
 *   PR3  in one frame, with one agent and one provider and no compaction between them, a later prompt begins with an earlier one
 */
import type { CommandOf, Envelope, Event } from "@pawl/sansio-core";
import { type PromptMessage, type PromptPlan, promptOf, promptPlan } from "@pawl/sansio-core/driver";
import { type Json, canonicalJson } from "@pawl/tool-value";
import type { SimScope } from "./scope.ts";
import { CoreSimViolation } from "./violation.ts";

type Parts = Extract<PromptMessage, { readonly role: "assistant" | "tool" }>["content"];

const textOf = (message: PromptMessage): string => canonicalJson(message as unknown as Json) ?? "";

const callsIn = (message: PromptMessage | undefined): readonly string[] =>
  message?.role === "assistant"
    ? message.content.flatMap((part) => (part.type === "tool-call" && part.provider !== true ? [part.id] : []))
    : [];

const resultsIn = (message: PromptMessage | undefined): readonly string[] =>
  message?.role === "tool" ? message.content.flatMap((part) => (part.type === "tool-result" ? [part.id] : [])) : [];

const results: PromptRule = ({ messages }) => {
  for (let i = 0; i <= messages.length; i++) {
    const [calls, found] = [callsIn(messages[i - 1]).join(), resultsIn(messages[i]).join()];
    if (calls !== found) return `PR1: the calls ${calls} have the results ${found}`;
  }
  return undefined;
};

const awaitsProvider = (parts: Parts): boolean =>
  parts.some(
    (part) =>
      part.type === "tool-call" &&
      part.provider === true &&
      !parts.some((other) => other.type === "tool-result" && other.id === part.id),
  );

interface Shown {
  readonly messages: readonly PromptMessage[];
  readonly plan: PromptPlan;
  readonly system: string;
}
type PromptRule = (shown: Shown) => string | undefined;

const wellFormed: PromptRule = ({ messages, plan, system }) => {
  const ids = messages.flatMap(callsIn);
  if (new Set(ids).size !== ids.length) return `PR2: an id is that of two calls: ${ids.join()}`;
  if (messages.some(({ content }) => typeof content !== "string" && content.length === 0))
    return "PR2: a message has no parts";
  const [first] = messages;
  if (system !== "" && (first?.role !== "system" || first.content !== system))
    return "PR2: the agent's system text does not stand first";
  const last = messages.at(-1);
  if (last?.role !== "assistant" || plan.prefix !== "" || awaitsProvider(last.content)) return undefined;
  return "PR2: the last message is the assistant's";
};

/** A prompt, and what a later one has in common with it. */
interface Before {
  readonly under: string;
  readonly texts: readonly string[];
}

export class Prompts {
  readonly #before = new Map<string, Before>();

  /** Checks the prompt of an attempt that has said nothing yet. */
  look(scope: SimScope, command: CommandOf<"model.ask">): void {
    const plan = promptPlan(scope.state, command.request);
    if (plan === undefined) throw new CoreSimViolation("invariant", `${scope.id}: an open attempt has no prompt`);
    const { events } = scope;
    const read = (seq: number): Event => (events[seq - 1] as Envelope).event;
    const messages = promptOf(plan, read);
    const published = read(plan.agent);
    const system = published.type === "agent.published" ? (published.spec.system ?? "") : "";
    const shown = { messages, plan, system };
    const broken = results(shown) ?? wellFormed(shown) ?? this.#order(scope, command, shown);
    if (broken !== undefined)
      throw new CoreSimViolation(
        "invariant",
        `${scope.id} ${scope.state.seq}: ${broken}; ${messages.map(textOf).join(" ")}`,
      );
  }

  #order({ id, state }: SimScope, { kind, frame }: CommandOf<"model.ask">, { messages, plan }: Shown) {
    if (kind === "compact") return undefined;
    const { replaced, entered } = state.conversation.frames.get(frame) ?? {};
    const under = [frame, plan.agent, plan.provider, replaced].join(" ");
    const texts = messages.slice(0, plan.prefix === "" ? undefined : -1).map(textOf);
    const before = this.#before.get(`${id} ${frame}`);
    this.#before.set(`${id} ${frame}`, { under, texts });
    if (before?.under !== under || entered === undefined) return undefined;
    const other = before.texts.findIndex((text, i) => text !== texts[i]);
    return other === -1 ? undefined : `PR3: message ${other} was ${before.texts[other]}`;
  }
}

/** The talk of an agent: what it was asked, what it says, and the calls that it makes. */
import { type Json, stringify } from "@pawl/tool-value";
import { el } from "@pawl/inspector/dom";
import type { CallStory, StepStory } from "../page/story.ts";

/** JSON as one would say it. */
export const inWords = (json: Json): string => {
  if (typeof json === "string") return json;
  if (typeof json !== "object" || json === null) return stringify(json);
  if (Array.isArray(json)) return json.map((one: Json) => inWords(one)).join(", ");
  return Object.entries(json)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${inWords(value as Json)}`)
    .join(" · ");
};

/** How long a step of the demo takes at the most: its tooth is filled in that time. */
const stepMs = 2600;

/** How long the pawl takes to fall into place behind a tooth. */
const clickMs = 420;

/** Elements are made anew with each event: their motion goes on from where it would be. */
const elapsed = (since: number): string => `${Math.min(0, since - Date.now())}ms`;

/** How far a tooth is filled at a time, in percent, as its motion has it. */
const filledAt = (since: number, at = Date.now()): number => 2 + 90 * Math.max(0, Math.min(1, (at - since) / stepMs));

const onceMeans = "This step may happen once at most: after a crash it is not done again";

/** A step is a tooth of a ratchet: once it is passed there is no way back. */
const tooth = ({ name, once, status, since, until }: StepStory, diedAt: number | undefined): HTMLElement => {
  const state = status === "doing" && diedAt !== undefined ? "cut" : status;
  const fill = el("span", { class: "fill" });
  const blade = el("span", { class: "blade" }, fill);
  fill.style.animationDuration = `${stepMs}ms`;
  if (state === "doing") fill.style.animationDelay = elapsed(since);
  if (state === "cut") fill.style.width = `${filledAt(since, diedAt)}%`;
  if (state === "ok" && until !== undefined && Date.now() - until < clickMs) {
    blade.classList.add("click");
    blade.style.animationDelay = elapsed(until);
  }
  const words = { doing: "under way", cut: "cut off", ok: "on record", err: "outcome unknown" }[state];
  return el(
    "li",
    { class: `tooth ${state}`, "data-step": name },
    blade,
    el("span", { class: "label" }, name, once ? el("em", { title: onceMeans }, "once") : undefined),
    el("span", { class: "state" }, words),
  );
};

const phases: { readonly [phase: string]: string } = {
  requested: "asked for",
  preparing: "asked for",
  awaiting_approval: "needs your word",
  ready: "about to run",
  running: "running",
  resuming: "coming back",
  unknown: "outcome unknown",
  finishing: "done",
  completed: "done",
};

const endsOf: { readonly [status: string]: string } = { success: "done", failure: "failed" };

/** A call whose step is unknown has ended well, and yet there is something left to ask. */
const endOf = ({ end, steps }: CallStory): readonly [kind: string, words: string] | undefined => {
  if (end === undefined) return undefined;
  if (end.status === "success" && steps.some(({ status }) => status === "err")) return ["unknown", "part unknown"];
  return [end.status, endsOf[end.status] ?? end.status];
};

const samples: readonly (readonly [state: string, words: string, means: string])[] = [
  ["ok", "on record", "stays, whoever dies"],
  ["doing", "under way", "is done right now"],
  ["cut", "cut off", "its worker has died"],
  ["err", "outcome unknown", "is not repeated"],
];

/** What the teeth say, before there are any. */
export const teethKey = (): HTMLElement =>
  el(
    "article",
    { class: "tool key" },
    el("header", {}, el("h2", {}, "Each step is a tooth; the pawl lets nothing slip back")),
    el(
      "ul",
      { class: "teeth" },
      ...samples.map(([state, words, means]) =>
        el(
          "li",
          { class: `sample ${state}` },
          el("span", { class: "blade" }, el("span", { class: "fill" })),
          el("span", { class: "state" }, words),
          el("span", { class: "label" }, means),
        ),
      ),
    ),
  );

export const toolCard = (call: CallStory, steps: readonly string[], diedAt: number | undefined): HTMLElement => {
  const known = new Map(call.steps.map((step) => [step.name, step]));
  const names = [...new Set([...steps, ...known.keys()])];
  const [kind, status] = endOf(call) ?? [
    "open",
    (diedAt === undefined ? phases[call.phase] : "waits for a worker") ?? call.phase,
  ];
  return el(
    "article",
    { class: `tool ${kind}`, "data-tool": call.tool },
    el(
      "header",
      {},
      el("h2", {}, call.tool),
      el("p", { class: "args" }, inWords(call.args)),
      el("span", { class: "phase" }, status),
    ),
    el(
      "ol",
      { class: "teeth" },
      ...names.map((name) => {
        const step = known.get(name);
        if (step !== undefined) return tooth(step, diedAt);
        return el(
          "li",
          { class: "tooth ahead", "data-step": name },
          el("span", { class: "blade" }),
          el("span", { class: "label" }, name),
          el("span", { class: "state" }, "ahead"),
        );
      }),
    ),
  );
};

export const said = (who: "you" | "agent", text: string): HTMLElement =>
  el("p", { class: `said ${who}` }, el("span", { class: "who" }, who === "you" ? "You" : "Agent"), text);

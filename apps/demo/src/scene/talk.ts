/** The conversation with an agent: its task, its texts, and cards for its calls. */
import { type Json, stringify } from "@pawl/tool-value";
import { el } from "@pawl/inspector/dom";
import type { CallStory, StepStory } from "../page/story.ts";

/** Writes JSON as a short text for people. */
export const inWords = (json: Json): string => {
  if (typeof json === "string") return json;
  if (typeof json !== "object" || json === null) return stringify(json);
  if (Array.isArray(json)) return json.map((one: Json) => inWords(one)).join(", ");
  return Object.entries(json)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${inWords(value as Json)}`)
    .join(" · ");
};

/** The longest duration of a step in the demo: its tooth fills in that time. */
const stepMs = 2600;

/** The duration of the pawl's click behind a tooth. */
const clickMs = 420;

/** Returns the animation delay that continues a motion: elements are created again with each event. */
const elapsed = (since: number): string => `${Math.min(0, since - Date.now())}ms`;

/** Returns the fill of a tooth in percent at a time, as its animation has it. */
const filledAt = (since: number, at = Date.now()): number => 2 + 90 * Math.max(0, Math.min(1, (at - since) / stepMs));

const onceMeaning = "This step runs at most once: after a crash it does not run again";

/** Draws a step as a tooth of a ratchet: once it is passed there is no way back. */
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
  const words = { doing: "running", cut: "cut off", ok: "recorded", err: "outcome unknown" }[state];
  return el(
    "li",
    { class: `tooth ${state}`, "data-step": name },
    blade,
    el("span", { class: "label" }, name, once ? el("em", { title: onceMeaning }, "once") : undefined),
    el("span", { class: "state" }, words),
  );
};

const phases: { readonly [phase: string]: string } = {
  requested: "requested",
  preparing: "requested",
  awaiting_approval: "needs approval",
  ready: "about to run",
  running: "running",
  resuming: "resuming",
  unknown: "outcome unknown",
  finishing: "done",
  completed: "done",
};

const endsOf: { readonly [status: string]: string } = { success: "done", failure: "failed" };

/** Returns the end of a call. A successful call with an unknown step is shown as partly unknown. */
const endOf = ({ end, steps }: CallStory): readonly [kind: string, words: string] | undefined => {
  if (end === undefined) return undefined;
  if (end.status === "success" && steps.some(({ status }) => status === "err")) return ["unknown", "partly unknown"];
  return [end.status, endsOf[end.status] ?? end.status];
};

const samples: readonly (readonly [state: string, words: string, means: string])[] = [
  ["ok", "recorded", "survives any crash"],
  ["doing", "running", "in progress"],
  ["cut", "cut off", "its worker has died"],
  ["err", "outcome unknown", "will not be repeated"],
];

/** Creates the legend of the teeth, shown before there are any. */
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
    (diedAt === undefined ? phases[call.phase] : "waiting for a worker") ?? call.phase,
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

export const speech = (who: "you" | "agent", text: string): HTMLElement =>
  el("p", { class: `said ${who}` }, el("span", { class: "who" }, who === "you" ? "You" : "Agent"), text);

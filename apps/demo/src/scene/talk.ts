/** The talk of an agent: what it was asked, what it says, and the calls that it makes. */
import { stringify } from "@pawl/tool-value";
import { el } from "@pawl/inspector/dom";
import type { CallStory, StepStory } from "../page/story.ts";

const argsText = ({ args }: CallStory): string => {
  const text = stringify(args);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

/** How long a step of the demo takes at the most: its tooth is filled in that time. */
const stepMs = 2600;

/** A step is a tooth of a ratchet: once it is passed there is no way back. */
const tooth = ({ name, once, status, since }: StepStory, isAlive: boolean): HTMLElement => {
  const state = status === "doing" && !isAlive ? "cut" : status;
  const fill = el("span", { class: "fill" });
  if (state === "doing") fill.style.animationDelay = `${Math.min(0, since - Date.now())}ms`;
  fill.style.animationDuration = `${stepMs}ms`;
  const words = { doing: "under way", cut: "cut off", ok: "on record", err: "outcome unknown" }[state];
  return el(
    "li",
    { class: `tooth ${state}`, "data-step": name },
    el("span", { class: "blade" }, fill),
    el("span", { class: "label" }, name, once ? el("em", {}, "once") : undefined),
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

export const toolCard = (call: CallStory, steps: readonly string[], isAlive: boolean): HTMLElement => {
  const known = new Map(call.steps.map((step) => [step.name, step]));
  const names = [...new Set([...steps, ...known.keys()])];
  const status = call.end?.status ?? (isAlive ? phases[call.phase] : "waits for a worker") ?? call.phase;
  return el(
    "article",
    { class: `tool ${call.end === undefined ? "open" : call.end.status}`, "data-tool": call.tool },
    el("header", {}, el("h2", {}, call.tool), el("code", {}, argsText(call)), el("span", { class: "phase" }, status)),
    el(
      "ol",
      { class: "teeth" },
      ...names.map((name) => {
        const step = known.get(name);
        if (step !== undefined) return tooth(step, isAlive);
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

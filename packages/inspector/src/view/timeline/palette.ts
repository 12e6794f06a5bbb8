/** The colours of the timeline. They come from the element's style, so that a host's theme applies to the canvas too. */
import type { Mark } from "../../model/lane-builder.ts";

const names = [
  "ink",
  "soft",
  "faint",
  "line",
  "panel",
  "accent",
  "run",
  "step",
  "wait",
  "good",
  "bad",
  "calm",
  "long",
] as const;
export type Tone = (typeof names)[number];
export type Palette = { readonly [T in Tone]: string } & { readonly font: string };

export const paletteOf = (element: Element): Palette => {
  const style = getComputedStyle(element);
  const tones = names.map((name) => [name, style.getPropertyValue(`--pawl-${name}`).trim()] as const);
  return { ...Object.fromEntries(tones), font: style.getPropertyValue("--pawl-font").trim() } as Palette;
};

const tones: { readonly [kind: string]: Tone } = {
  running: "run",
  resuming: "wait",
  awaiting_approval: "wait",
  pending: "wait",
  suspended: "wait",
  backing_off: "wait",
  waiting: "wait",
  no_executor: "wait",
  no_tool: "wait",
  blocked: "wait",
  unknown: "bad",
  step: "step",
  wait: "wait",
  sleep: "wait",
  host: "long",
  trigger: "long",
  batch: "calm",
  message: "long",
  select: "calm",
  scheduled: "long",
  queued: "calm",
};

/** Returns the colour of a span: by its end if that was bad, otherwise by its kind. */
export const toneOf = (kind: string, end: string | undefined): Tone => {
  if (end === "lost" || end === "err") return "bad";
  if (kind === "ended") return end === "ok" ? "good" : "wait";
  return tones[kind] ?? "calm";
};

const markTones: { readonly [T in Mark["type"]]: Tone } = {
  opened: "faint",
  owner: "calm",
  crash: "bad",
  lost: "bad",
  fault: "bad",
  forked: "accent",
  moved: "run",
};
export const toneOfMark = ({ type }: Mark): Tone => markTones[type];

const topicTones: { readonly [topic: string]: Tone } = {
  scope: "ink",
  request: "accent",
  call: "run",
  effect: "step",
  wait: "wait",
  approval: "wait",
  process: "long",
  message: "long",
  long: "long",
};
export const toneOfTopic = (topic: string): Tone => topicTones[topic] ?? "calm";

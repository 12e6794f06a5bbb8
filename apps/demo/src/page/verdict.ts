/** The verdict of a scene: one sentence on the result, and one on its meaning. */
import { el } from "@pawl/inspector/dom";
import type { Verdict } from "../scene/kill-verdict.ts";

export interface VerdictLine {
  readonly element: HTMLElement;
  readonly say: (verdict: Verdict) => void;
}

/** Creates the line. A screen reader announces it only when it changes. */
export const verdictLine = (): VerdictLine => {
  const element = el("p", { class: "verdict", role: "status" });
  const say = ({ kind, words, means }: Verdict): void => {
    if (element.textContent === `${words} ${means}`) return;
    element.className = `verdict ${kind}`;
    element.replaceChildren(el("b", {}, words), " ", el("span", {}, means));
  };
  return { element, say };
};

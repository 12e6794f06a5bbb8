/** What a scene comes to: in one sentence, and what that means. */
import { el } from "@pawl/inspector/dom";
import type { Verdict } from "../scene/verdict.ts";

export interface VerdictLine {
  readonly element: HTMLElement;
  readonly say: (verdict: Verdict) => void;
}

/** It is read out when it changes, and only then. */
export const verdictLine = (): VerdictLine => {
  const element = el("p", { class: "verdict", role: "status" });
  const say = ({ kind, words, means }: Verdict): void => {
    if (element.textContent === `${words} ${means}`) return;
    element.className = `verdict ${kind}`;
    element.replaceChildren(el("b", {}, words), " ", el("span", {}, means));
  };
  return { element, say };
};

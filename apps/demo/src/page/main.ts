/** The page of the demo: one scene at a time, and the inspector beside it. */
import { type PawlInspector, defineInspector } from "@pawl/inspector";
import { askScene } from "../scene/ask.ts";
import { killScene } from "../scene/kill.ts";
import { longScene } from "../scene/long.ts";
import { moveScene } from "../scene/move.ts";
import { orderScene } from "../scene/order.ts";
import { turnScene } from "../scene/turn.ts";
import { button, el, icon } from "@pawl/inspector/dom";
import { type Theme, rememberTheme, theme } from "./memory.ts";
import { modelDialog } from "./model-dialog.ts";
import type { Scene } from "./scene.ts";
import { WriterNotice } from "./writer-notice.ts";

const scenes: readonly Scene[] = [turnScene, killScene, askScene, longScene, orderScene, moveScene];
const darkQuery = matchMedia("(prefers-color-scheme: dark)");

/** The icon of a half-dark disc. */
const halfDark = "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 1.5v11a5.5 5.5 0 0 1 0-11z";

defineInspector();

/** Explains the inspector to a first-time visitor. */
const sideWords = (): HTMLElement =>
  el(
    "p",
    { class: "side-words" },
    el("b", {}, "The log of this scene."),
    " Everything is recorded here before it takes effect. Drag along the timeline to go back in time.",
  );

class Page {
  readonly #tabs = el("nav", { class: "scenes", "aria-label": "Scenes" });
  readonly #main = el("main");
  readonly #trouble = el("p", { class: "trouble", role: "alert", hidden: true });
  #end: (() => void) | undefined;
  #inspector: PawlInspector | undefined;

  constructor(root: HTMLElement) {
    const mark = el(
      "a",
      { class: "mark", href: "#turn", "aria-label": "pawl" },
      el("img", { src: "/mark.svg", alt: "" }),
      "pawl",
    );
    const claim = el("p", { class: "claim" }, "tool calls that survive crashes");
    const dialog = modelDialog(() => this.show());
    const tools = el(
      "div",
      { class: "bar-tools" },
      button("Model", { class: "quiet" }, () => dialog.showModal()),
      button(icon(halfDark), { class: "quiet theme", title: "Light or dark", "aria-label": "Light or dark" }, () =>
        this.#turn(),
      ),
    );
    root.append(el("header", { class: "bar" }, mark, claim, this.#tabs, tools), this.#main, this.#trouble, dialog);
    addEventListener("hashchange", () => this.show());
    this.#paint();
  }

  get #scene(): Scene {
    return scenes.find(({ id }) => `#${id}` === location.hash) ?? (scenes[0] as Scene);
  }

  #turn(): void {
    const now: Theme = (theme() ?? (darkQuery.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
    rememberTheme(now);
    this.#paint();
  }

  #paint(): void {
    const chosen = theme();
    if (chosen === undefined) return;
    document.documentElement.dataset["theme"] = chosen;
    this.#inspector?.setAttribute("theme", chosen);
    this.#inspector?.recolour();
  }

  show(): void {
    this.#end?.();
    const scene = this.#scene;
    const number = scenes.indexOf(scene) + 1;
    this.#tabs.replaceChildren(
      ...scenes.map(({ id, name }, i) =>
        el("a", { href: `#${id}`, "aria-current": id === scene.id && "page" }, el("span", {}, String(i + 1)), name),
      ),
    );
    this.#tabs.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
    const inspector = document.createElement("pawl-inspector") as PawlInspector;
    const element = el("div", { class: `stage ${scene.id}` });
    const writerNotice = new WriterNotice(element);
    const heading = el("h1", {}, scene.title);
    const side = el("section", { class: "side", "aria-label": "The log of this scene" }, sideWords(), inspector);
    this.#main.replaceChildren(
      el(
        "section",
        { class: "scene", tabindex: "0", "aria-label": `Scene ${number}` },
        heading,
        el("p", { class: "lede" }, scene.lede),
        writerNotice.element,
        element,
      ),
      side,
    );
    this.#inspector = inspector;
    this.#trouble.hidden = true;
    this.#paint();
    document.title = `pawl: ${scene.title}`;
    const end = scene.begin({
      element,
      inspector,
      again: () => this.show(),
      fault: (message) => {
        this.#trouble.hidden = false;
        this.#trouble.textContent = message;
      },
      writes: (isWriter) => writerNotice.writes(isWriter),
    });
    this.#end = () => {
      writerNotice.end();
      end();
    };
  }
}

const root = document.querySelector<HTMLElement>("#app");
if (root !== null) new Page(root).show();

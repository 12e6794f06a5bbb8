/** The scene "Any order": the explorers of the testkit, run live on a tool that charges a card. */
import { textSource } from "@pawl/inspector";
import InspectorWorker from "@pawl/inspector/worker?worker";
import type { FromExplorer, Point, ToExplorer } from "../engine/message.ts";
import { type Care, code } from "../engine/explore-scenario.ts";
import ExploreWorker from "../engine/explore-worker.ts?worker";
import { button, el } from "@pawl/inspector/dom";
import type { Scene, Stage } from "../page/scene.ts";

const names: { readonly [C in Care]: string } = {
  with_key: "Passes the key",
  careless: "Forgets the key",
  once: "At most once",
};

const meanings: { readonly [C in Care]: string } = {
  with_key:
    "Each step has a key that stays the same when the step runs again. The bank gets it, and charges a key once.",
  careless: "The bank does not get the step's key: after a crash the step runs again, and charges a second time.",
  once: "After a crash the step does not run again: the tool gets the error that its outcome is unknown.",
};

const harms: { readonly [harm: string]: string } = {
  lost: "something was lost",
  doubled: "something happened twice",
  other_result: "the result differed",
  diverged: "the program took another path",
};

const resultOf = ({ harm, isUnknown }: Point): string => {
  if (harm !== undefined) return harms[harm] ?? harm;
  return isUnknown ? "outcome unknown, and reported" : "safe";
};

const kindOf = ({ harm, isUnknown }: Point): string => {
  if (harm !== undefined) return "harm";
  return isUnknown ? "unknown" : "fine";
};

/** Replaces backquotes by quotation marks. */
const quoted = (where: string): string => where.replace(/`([^`]*)`/g, "“$1”");

class Explorer {
  readonly #stage: Stage;
  readonly #worker = new ExploreWorker();
  readonly #choices = el("fieldset", { class: "choice" });
  readonly #explores = [
    button("Crash it everywhere", { class: "primary" }, () => this.#explore("crashes")),
    button("Try every order", {}, () => this.#explore("orders")),
  ] as const;
  readonly #code = el("pre", { class: "code", tabindex: "0" });
  readonly #meaning = el("p", { class: "about" });
  readonly #legend = el("ul", { class: "legend", "aria-hidden": "true" });
  readonly #grid = el("div", { class: "moments", role: "group", "aria-label": "Moments of a crash" });
  readonly #about = el("p", { class: "about", role: "status" });
  readonly #words = el("pre", { tabindex: "0", "aria-label": "The report" });
  readonly #report = el("details", { class: "report" }, el("summary", {}, "The testkit's report"), this.#words);
  readonly #verdict = el("p", { class: "verdict", role: "status" });
  #care: Care = "with_key";

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromExplorer>) => this.#receive(data));
    this.#worker.addEventListener("error", ({ message }) => stage.fault(message));
    stage.inspector.configure({ worker: () => new InspectorWorker() });
    stage.element.append(
      this.#choice(),
      this.#code,
      this.#meaning,
      el("div", { class: "controls" }, ...this.#explores),
      this.#verdict,
      this.#grid,
      this.#legend,
      this.#about,
      this.#report,
    );
    this.#choose("with_key");
    this.#ask({ type: "log", care: "with_key", dieAt: 6 });
  }

  #choice(): HTMLElement {
    const options = (Object.keys(names) as Care[]).map((care) => {
      const radio = el("input", { type: "radio", name: "care", value: care, checked: care === this.#care });
      radio.addEventListener("change", () => this.#choose(care));
      return el("label", {}, radio, names[care]);
    });
    this.#choices.append(el("legend", {}, "The tool that charges a card"), ...options);
    return this.#choices;
  }

  #choose(care: Care): void {
    this.#care = care;
    this.#code.textContent = code[care];
    this.#meaning.textContent = meanings[care];
    this.#grid.replaceChildren();
    this.#legend.replaceChildren();
    this.#about.textContent = "";
    this.#report.hidden = true;
    this.#verdict.textContent = "";
    this.#verdict.className = "verdict";
  }

  #ask(message: ToExplorer): void {
    this.#worker.postMessage(message, []);
  }

  /** Disables the choice while an exploration runs, so that its result belongs to the tool that is shown. */
  #setBusy(isBusy: boolean): void {
    for (const control of [this.#choices, ...this.#explores]) control.disabled = isBusy;
  }

  #explore(type: "crashes" | "orders"): void {
    this.#setBusy(true);
    this.#choose(this.#care);
    this.#verdict.textContent = "Running…";
    this.#ask({ type, care: this.#care });
  }

  #receive(message: FromExplorer): void {
    switch (message.type) {
      case "points":
        this.#about.textContent = "Each mark is one moment of a crash. Pick one to open its log.";
        this.#explain(message.points);
        return this.#grid.replaceChildren(...message.points.map((point) => this.#point(point)));
      case "report":
        this.#setBusy(false);
        this.#verdict.className = `verdict ${message.harmed === 0 ? "safe" : "harmed"}`;
        this.#verdict.textContent =
          message.harmed === 0
            ? `Safe in all of ${message.runs} runs`
            : `Not safe: harm in ${message.harmed} of ${message.runs} runs`;
        this.#report.hidden = false;
        this.#words.textContent = message.words;
        return;
      case "log":
        return void this.#stage.inspector.open(textSource(message.name, message.text));
      case "fault":
        this.#setBusy(false);
        return this.#stage.fault(message.message);
    }
  }

  /** Draws the legend. The buttons have labels of their own. */
  #explain(points: readonly Point[]): void {
    const kinds = new Map(points.map((point) => [resultOf(point), kindOf(point)]));
    this.#legend.replaceChildren(
      ...[...kinds].map(([result, kind]) => el("li", {}, el("span", { class: `moment ${kind}` }), result)),
    );
  }

  #point(point: Point): HTMLElement {
    const result = resultOf(point);
    const kind = kindOf(point);
    const made = button("", { class: `moment ${kind}` }, () => {
      for (const other of this.#grid.children) other.removeAttribute("aria-pressed");
      made.setAttribute("aria-pressed", "true");
      const came = el("b", { class: kind }, result);
      this.#about.replaceChildren(`Moment ${point.n}: it crashed ${quoted(point.where)}. Result: `, came);
      this.#ask({ type: "log", care: this.#care, dieAt: point.n });
    });
    made.title = `${point.n}: crashed ${quoted(point.where)}: ${result}`;
    made.setAttribute("aria-label", made.title);
    made.style.animationDelay = `${point.n * 18}ms`;
    return made;
  }

  end(): void {
    this.#worker.terminate();
  }
}

export const orderScene: Scene = {
  id: "order",
  name: "Any order",
  title: "Every crash, every order",
  lede: "The testkit crashes the process at every moment and at pairs of moments, and tries every order in which events can arrive.",
  begin: (stage) => {
    const explorer = new Explorer(stage);
    return () => explorer.end();
  },
};

/** The scene "Long work": background runs with progress, output and cancel, and schedules. */
import type { Schedule, Task } from "@pawl/sansio-core/driver";
import { isTerminal } from "@pawl/sansio-core/driver";
import InspectorWorker from "@pawl/inspector/worker?worker";
import { type FromLong, type LongView, type ToLong, headerOf } from "../engine/message.ts";
import LongWorker from "../engine/long-worker.ts?worker";
import { button, el } from "@pawl/inspector/dom";
import { LogFeed, blobsOf } from "../page/log-feed.ts";
import { beginAnew, sessionOf } from "../page/memory.ts";
import type { Scene, Stage } from "../page/scene.ts";
import { Story } from "../page/story.ts";
import { verdictLine } from "../page/verdict.ts";
import type { Verdict } from "./kill-verdict.ts";

const archives = [
  { title: "The harbour archive", pages: 60 },
  { title: "Tide tables", pages: 8 },
  { title: "Letters of 1911", pages: 16 },
] as const;
const restartMs = 1100;
const remindMs = 6000;

const stateWords: { readonly [state: string]: string } = {
  queued: "waiting for a slot",
  running: "reading",
  succeeded: "done",
  failed: "failed",
  canceled: "cancelled",
};

/** Creates the item for a message to the session. Any lines after the first are folded away. */
const messageItem = (text: string): HTMLElement => {
  const [first = "", ...rest] = text.split("\n");
  if (rest.length === 0) return el("li", {}, first);
  return el("li", {}, el("details", {}, el("summary", {}, first), el("pre", {}, rest.join("\n"))));
};

/** The card of one task. Its elements are kept, so that no click hits a removed button. */
class TaskCard {
  readonly element: HTMLElement;
  readonly #phase = el("span", { class: "phase" });
  readonly #cancel: HTMLButtonElement;
  readonly #progress: HTMLProgressElement;
  readonly #output: HTMLElement;

  constructor(title: string, cancel: () => void) {
    this.#cancel = button("Cancel", { class: "quiet" }, cancel);
    this.#progress = el("progress", { max: 1, value: 0, "aria-label": `Progress of ${title}` });
    this.#output = el("pre", { tabindex: "0", "aria-label": `Output of ${title}` });
    const head = el("header", {}, el("h2", {}, title), this.#phase, this.#cancel);
    this.element = el("article", {}, head, this.#progress, this.#output);
  }

  show({ state, progress, cancel_requested_at }: Task, output: string): void {
    const isOver = isTerminal(state);
    const isStopping = cancel_requested_at !== undefined && !isOver;
    this.element.className = `task ${state}`;
    this.element.dataset["state"] = state;
    this.#phase.textContent = isStopping ? "stopping" : (stateWords[state] ?? state);
    this.#cancel.hidden = isOver;
    this.#cancel.disabled = isStopping;
    const { current, total = 1 } = progress ?? {};
    if (state === "succeeded") this.#progress.value = 1;
    else if (current !== undefined) this.#progress.value = current / total; // A cancelled task reports no progress.
    this.#output.textContent = output.trimEnd().split("\n").slice(-3).join("\n");
  }
}

class LongWork {
  readonly #stage: Stage;
  readonly #session = sessionOf("long");
  readonly #feed = new LogFeed();
  readonly #badge = el("p", { class: "worker", role: "status" });
  readonly #tasks = el("div", { class: "tasks" });
  readonly #schedules = el("ul", { class: "schedules", "aria-label": "Schedules" });
  readonly #messagesTitle = el("h2", { class: "heard", hidden: true }, "Messages to the agent");
  readonly #messages = el("ul", { class: "told", "aria-label": "Messages to the agent", "aria-live": "polite" });
  readonly #verdict = verdictLine();
  readonly #again: HTMLButtonElement;
  readonly #starters = [
    button("Read an archive", { class: "primary" }, () => this.#run()),
    button("Remind me in six seconds", {}, () => this.#remind()),
  ] as const;
  readonly #killer = button("Kill the worker", { class: "danger" }, () => this.#kill());
  readonly #story: Story;
  readonly #cards = new Map<string, TaskCard>();
  #worker: Worker | undefined;
  #workers = 0;
  #seq = 0;
  #hasWork = false;
  #count = 0;
  #restart: ReturnType<typeof setTimeout> | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#story = new Story(this.#session);
    this.#again = button("Start over", { class: "quiet" }, () => {
      beginAnew("long");
      stage.again();
    });
    stage.element.append(
      el("div", { class: "controls" }, ...this.#starters),
      el("div", { class: "controls" }, this.#badge, this.#killer, this.#again),
      this.#verdict.element,
      this.#tasks,
      this.#schedules,
      this.#messagesTitle,
      this.#messages,
    );
    stage.inspector.configure({ worker: () => new InspectorWorker() });
    const scope = `session:${this.#session}`;
    this.#feed.push(headerOf(scope));
    void stage.inspector.open({ name: scope, text: this.#feed, blobs: blobsOf("long") });
    this.#start();
  }

  #send(message: ToLong): void {
    this.#worker?.postMessage(message, []);
  }

  #start(): void {
    this.#workers += 1;
    this.#worker = new LongWorker();
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromLong>) => this.#receive(data));
    this.#worker.addEventListener("error", ({ message }) => this.#stage.fault(message));
    this.#send({ type: "open", session: this.#session });
    this.#stage.writes(false);
    this.#badge.className = "worker alive";
    this.#badge.textContent = `Worker ${this.#workers} is alive`;
    this.#update();
  }

  #kill(): void {
    if (this.#worker === undefined) return;
    this.#worker.terminate();
    this.#worker = undefined;
    this.#badge.className = "worker dead";
    this.#badge.textContent = `Worker ${this.#workers} is dead`;
    this.#update();
    this.#restart = setTimeout(() => this.#start(), restartMs);
  }

  /** Updates the controls and the verdict. Before any work has started there is nothing to kill or to start over. */
  #update(): void {
    this.#killer.hidden = this.#again.hidden = !this.#hasWork;
    for (const control of [this.#killer, ...this.#starters]) control.disabled = this.#worker === undefined;
    this.#verdict.say(this.#verdictOf());
  }

  #verdictOf(): Verdict {
    if (this.#worker === undefined)
      return { kind: "dead", words: "Everything has stopped.", means: "The log keeps the position of each run." };
    if (this.#workers > 1)
      return { kind: "alive", words: "It continues from the log.", means: "Each run goes on at its last page." };
    const words = this.#hasWork ? "Now kill the worker." : "Start some work, then kill its worker.";
    return { kind: "", words, means: "Background runs report their progress, and can be cancelled." };
  }

  #run(): void {
    const archive = archives[this.#count % archives.length];
    this.#count += 1;
    if (archive !== undefined) this.#send({ type: "run", ...archive });
  }

  #remind(): void {
    this.#send({ type: "remind", words: "Look at what the archives say", inMs: remindMs });
  }

  #receive(message: FromLong): void {
    switch (message.type) {
      case "lines":
        for (const { seq, line } of message.lines)
          if (seq === this.#seq + 1) {
            this.#seq = seq;
            this.#feed.push(line);
            this.#story.take({ seq, line });
          }
        return this.#showMessages();
      case "writing":
        return this.#stage.writes(true);
      case "view":
        return this.#show(message.view);
      case "fault":
        return this.#stage.fault(message.message);
    }
  }

  #showMessages(): void {
    const { messages } = this.#story;
    this.#messagesTitle.hidden = messages.length === 0;
    this.#messages.append(...messages.slice(this.#messages.childElementCount).map(messageItem));
  }

  #show({ tasks, schedules, outputs }: LongView): void {
    for (const task of tasks) this.#cardOf(task).show(task, outputs[task.id] ?? "");
    this.#schedules.replaceChildren(...schedules.map((schedule) => this.#schedule(schedule)));
    if (this.#hasWork || tasks.length + schedules.length === 0) return;
    this.#hasWork = true;
    this.#update();
  }

  /** Returns the card of a task. New cards go to the top. */
  #cardOf({ id, display_name }: Task): TaskCard {
    const known = this.#cards.get(id);
    if (known !== undefined) return known;
    const made = new TaskCard(display_name, () => this.#send({ type: "cancel", task: id }));
    this.#cards.set(id, made);
    this.#tasks.prepend(made.element);
    return made;
  }

  #schedule({ description, next_trigger_at, enabled, trigger_count }: Schedule): HTMLElement {
    const seconds = next_trigger_at === undefined ? 0 : Math.max(0, Math.ceil((next_trigger_at - Date.now()) / 1000));
    const when = enabled && trigger_count === 0 ? `Reminder in ${seconds} s:` : "Reminded:";
    return el("li", {}, el("b", {}, when), " ", description);
  }

  end(): void {
    clearTimeout(this.#restart);
    this.#worker?.terminate();
    this.#feed.end();
  }
}

export const longScene: Scene = {
  id: "long",
  name: "Long work",
  title: "Work in the background",
  lede: "Background runs survive the worker that runs them. A reminder arrives at its time, whichever worker runs then.",
  begin: (stage) => {
    const work = new LongWork(stage);
    return () => work.end();
  },
};

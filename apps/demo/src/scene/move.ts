/** The scene "Move it": a session moves from this tab to a Node host during its work, and comes back. */
import { Client, HostRefused, type Observed } from "@pawl/driver-browser/client";
import { type Source, observedSource } from "@pawl/inspector";
import InspectorWorker from "@pawl/inspector/worker?worker";
import { parse, record, read, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { type FromMover, type Line, type ToMover, headerOf } from "../engine/message.ts";
import MoveWorker from "../engine/move-worker.ts?worker";
import { type Place, miles } from "../engine/walk.ts";
import { button, el } from "@pawl/inspector/dom";
import { LogFeed, blobsOf } from "../page/log-feed.ts";
import { beginAnew, ownSession, ownStore } from "../page/memory.ts";
import type { Scene, Stage } from "../page/scene.ts";
import { Story } from "../page/story.ts";

const HostCodec = record<{ readonly token: string }>("the host's answer", { token: string });

const tokenOfHost = async (): Promise<string> => {
  const response = await fetch("/host.json");
  const told = pipe(
    parse(await response.text()),
    E.chain((json) => read(HostCodec, json)),
  );
  if (E.isLeft(told)) throw new Error("the demo's host does not answer: start it with `pnpm demo`");
  return told.right.token;
};

const names: { readonly [P in Place]: readonly [name: string, store: string] } = {
  tab: ["This tab", "log in IndexedDB"],
  host: ["Node host", "log in SQLite"],
};

const house = (place: Place): HTMLElement =>
  el("div", { class: `house ${place}` }, el("strong", {}, names[place][0]), el("span", {}, names[place][1]));

class Walk {
  readonly #stage: Stage;
  readonly #session = ownSession("move");
  readonly #worker = new MoveWorker();
  readonly #client: Client;
  readonly #road = el(
    "div",
    { class: "road tab" },
    house("tab"),
    el("div", { class: "traveller", "aria-hidden": "true" }, "session"),
    house("host"),
  );
  readonly #place = el("p", { class: "verdict", role: "status" });
  readonly #miles = el("ol", { class: "teeth miles" });
  readonly #walk = button("Start walking", { class: "primary" }, () => this.#begin());
  readonly #go = button("Move it to the host", { class: "primary" }, () => this.#leave());
  readonly #back = button("Bring it back", { class: "primary" }, () => this.#return());
  readonly #again: HTMLButtonElement;
  #story: Story;
  #feed = new LogFeed();
  #at: Place = "tab";
  #isMoving = false;
  #isWalking = false;
  #observing: AsyncIterator<Observed> | undefined;

  constructor(stage: Stage, token: string) {
    this.#stage = stage;
    this.#story = new Story(this.#session);
    const url = `ws://${location.host}`;
    this.#client = new Client({ url, token });
    this.#again = button("Start over", { class: "quiet" }, () => {
      beginAnew("move");
      stage.again();
    });
    stage.element.append(
      el("div", { class: "controls" }, this.#walk, this.#go, this.#back, this.#again),
      this.#road,
      this.#place,
      this.#miles,
    );
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromMover>) => this.#receive(data));
    this.#worker.addEventListener("error", ({ message }) => stage.fault(message));
    stage.inspector.configure({ worker: () => new InspectorWorker() });
    this.#show();
    stage.writes(false);
    this.#send({ type: "open", session: this.#session, store: ownStore(), url, token });
    this.#draw();
  }

  #try(work: Promise<void>): void {
    work.catch((thrown: unknown) => this.#stage.fault(String(thrown)));
  }

  #send(message: ToMover): void {
    this.#worker.postMessage(message, []);
  }

  /** Opens the log of the session's new place in the story and the inspector. */
  #show(source?: Source): void {
    this.#feed.end();
    this.#feed = new LogFeed();
    this.#story = new Story(this.#session);
    const scope = `session:${this.#session}`;
    if (source === undefined) this.#feed.push(headerOf(scope));
    const blobs = source === undefined ? { blobs: blobsOf("move") } : {};
    void this.#stage.inspector.open({ name: scope, text: this.#feed, ...blobs });
    if (source !== undefined) this.#try(this.#read(source, this.#feed));
  }

  async #read(source: Source, into: LogFeed): Promise<void> {
    let seq = -1;
    try {
      for await (const line of source.text) {
        if (into !== this.#feed) return;
        seq += 1;
        into.push(line);
        if (seq > 0) this.#story.take({ seq, line });
        this.#draw();
      }
    } catch (thrown) {
      if (into !== this.#feed) return; // This source is out of date.
      if (!(thrown instanceof HostRefused && thrown.address !== undefined)) throw thrown;
      await this.#returned(); // Another tab has brought it back.
    }
  }

  #take(lines: readonly Line[]): void {
    if (this.#at !== "tab") return;
    for (const line of lines) {
      if (line.seq !== this.#story.state.seq + 1) continue;
      this.#feed.push(line.line);
      this.#story.take(line);
    }
    if (this.#story.calls.length > 0 && !this.#isWalking) this.#begin();
    this.#draw();
  }

  #begin(): void {
    this.#isWalking = true;
    this.#send({ type: "walk" });
    this.#draw();
  }

  #receive(message: FromMover): void {
    if (message.type === "fault") return this.#stage.fault(message.message);
    if (message.type === "writing") return this.#stage.writes(true);
    if (message.type === "lines") return this.#take(message.lines);
    if (message.type === "back") return this.#try(this.#returned());
    this.#arriveAt("host");
    const observation = this.#client.session(this.#session).observe();
    this.#observing = observation;
    this.#show(observedSource(`session:${this.#session}`, observation));
  }

  #arriveAt(place: Place): void {
    this.#at = place;
    this.#isMoving = false;
    this.#draw();
  }

  #leave(): void {
    this.#isMoving = true;
    this.#send({ type: "move" });
    this.#draw();
  }

  #return(): void {
    this.#isMoving = true;
    this.#send({ type: "bringBack" });
    this.#draw();
  }

  async #returned(): Promise<void> {
    if (this.#at === "tab") return;
    this.#arriveAt("tab");
    this.#show();
    await this.#observing?.return?.();
    this.#send({ type: "follow" });
  }

  #draw(): void {
    const call = this.#story.calls.find(({ tool }) => tool === "walk");
    const steps = new Map(call?.steps.map((step) => [step.name, step]));
    const isOver = call?.end !== undefined;
    this.#walk.hidden = this.#isWalking || call !== undefined;
    this.#again.hidden = call === undefined;
    this.#go.hidden = this.#at !== "tab" || call === undefined || isOver;
    this.#back.hidden = this.#at !== "host";
    this.#go.disabled = this.#isMoving;
    this.#back.disabled = this.#isMoving;
    this.#road.className = `road ${this.#at} ${this.#isMoving ? "moving" : ""}`;
    this.#place.textContent = this.#words(isOver);
    this.#miles.replaceChildren(
      ...miles.map((name) => {
        const step = steps.get(name);
        const where = step?.status === "ok" ? String(step.value) : step === undefined ? "ahead" : "doing";
        const state = { tab: "in the tab", host: "on the host", doing: "walking", ahead: "ahead" }[where] ?? where;
        const blade = el("span", { class: "blade" }, el("span", { class: "fill" }));
        return el(
          "li",
          { class: `tooth ${where}`, "data-step": name },
          blade,
          el("span", { class: "label" }, name),
          el("span", { class: "state" }, state),
        );
      }),
    );
  }

  #words(isOver: boolean): string {
    if (this.#isMoving) return "Moving: the work pauses until the session has arrived";
    if (isOver) return "The walk is over, and every mile was walked once";
    return this.#at === "tab" ? "The session is in this tab" : "The session is on the host; this page only watches";
  }

  end(): void {
    this.#worker.terminate();
    this.#feed.end();
    this.#feed = new LogFeed();
    this.#client.close();
  }
}

export const moveScene: Scene = {
  id: "move",
  name: "Move it",
  title: "Move a session while it works",
  lede: "A tool walks eight miles. On the way, move its session from this tab to a Node host, and bring it back. The log moves with it, and no mile is walked twice.",
  begin: (stage) => {
    let walk: Walk | undefined;
    let hasEnded = false;
    tokenOfHost()
      .then((token) => {
        if (!hasEnded) walk = new Walk(stage, token);
      })
      .catch((thrown: unknown) => stage.fault(String(thrown)));
    return () => {
      hasEnded = true;
      walk?.end();
    };
  },
};

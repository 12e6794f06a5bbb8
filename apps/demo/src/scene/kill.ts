/** The scene "Kill it": parallel tools with durable steps in a worker, and a button that terminates the worker. */
import { trip } from "../agent/script.ts";
import { type EffectCount, World } from "../engine/world.ts";
import { button, el } from "@pawl/inspector/dom";
import type { WorkerState } from "../page/engine-client.ts";
import { beginEngine } from "../page/engine-scene.ts";
import { beginAnew } from "../page/memory.ts";
import type { Scene, Stage } from "../page/scene.ts";
import { modelTool } from "../page/story.ts";
import { verdictLine } from "../page/verdict.ts";
import { isOver, verdictOf } from "./kill-verdict.ts";
import { speech, teethKey, toolCard } from "./talk.ts";

/** The pause before the next worker starts, so that the user sees that there is none. */
const restartMs = 1100;
const countEveryMs = 400;

const stepsOf: { readonly [tool: string]: readonly string[] } = {
  book_train: ["find a train", "reserve seats", "pay the fare"],
  book_rooms: ["compare hotels", "hold two rooms", "confirm"],
  send_invitations: ["write the text", "send the mails"],
};

const badgeWords: { readonly [D in WorkerState]: (n: number) => string } = {
  begins: (n) => `Worker ${n} starts`,
  runs: (n) => `Worker ${n} is alive`,
  dead: (n) => `Worker ${n} is dead`,
};

const times = (n: number): string => `${n}×`;

const countRow = ({ effect, asked, happened }: EffectCount): HTMLElement =>
  el(
    "tr",
    { class: `${asked > 1 ? "again" : ""} ${happened === 1 ? "once" : ""}` },
    el("th", { scope: "row" }, effect),
    el("td", {}, times(asked)),
    el("td", { class: "happened" }, times(happened)),
  );

const begin = (stage: Stage): (() => void) => {
  const world = new World("kill");
  const badge = el("p", { class: "worker", role: "status" });
  const talk = el("div", { class: "talk" });
  const verdict = verdictLine();
  let counted: readonly EffectCount[] = [];
  const counts = el("tbody");
  const table = el(
    "table",
    { class: "counts" },
    el("caption", {}, "The outside world"),
    el(
      "thead",
      {},
      el("tr", {}, ...["effect", "requested", "happened"].map((name) => el("th", { scope: "col" }, name))),
    ),
    counts,
  );
  let restart: ReturnType<typeof setTimeout> | undefined;
  const start = button("Run the agent", { class: "primary" }, () => scene.run());
  const kill = button("Kill the worker", { class: "danger" }, () => {
    scene.engine.kill();
    restart = setTimeout(() => scene.engine.start(), restartMs);
  });
  const again = button("Start over", { class: "quiet" }, () => {
    beginAnew("kill");
    void world.forget().then(stage.again);
  });
  stage.element.append(el("div", { class: "controls" }, badge, kill, start, again), verdict.element, talk, table);

  const judge = (): void => verdict.say(verdictOf(scene.story, scene.engine.isAlive, counted));
  const draw = (): void => {
    const { story, engine } = scene;
    const last = story.words.at(-1);
    const hasEnded = isOver(story);
    const tools = story.calls.filter(({ tool }) => tool !== modelTool);
    judge();
    start.hidden = scene.isStarted();
    kill.hidden = !scene.isStarted() || hasEnded;
    kill.disabled = !engine.isAlive;
    again.hidden = !hasEnded;
    table.hidden = tools.length === 0;
    talk.replaceChildren(
      speech("you", trip.task),
      ...(story.words[0] === undefined ? [] : [speech("agent", story.words[0])]),
      ...(scene.isStarted() ? [] : [teethKey()]),
      ...tools.map((call) => toolCard(call, stepsOf[call.tool] ?? [], engine.diedAt)),
      ...(hasEnded && last !== undefined ? [speech("agent", last)] : []),
    );
  };
  const count = (): void =>
    void world
      .counts()
      .then((all) => {
        counted = all;
        counts.replaceChildren(...all.map(countRow));
        judge();
      })
      .catch((thrown: unknown) => stage.fault(String(thrown)));
  const scene = beginEngine("kill", stage, {
    draw: () => queueMicrotask(draw),
    worker: (n, does) => {
      badge.className = `worker ${does === "dead" ? "dead" : "alive"}`;
      badge.textContent = badgeWords[does](n);
    },
  });
  const counting = setInterval(count, countEveryMs);
  return () => {
    clearInterval(counting);
    clearTimeout(restart);
    scene.end();
  };
};

export const killScene: Scene = {
  id: "kill",
  name: "Kill it",
  title: "Kill the worker in mid-step",
  lede: "An agent books a trip with three tools in parallel. Kill its worker at any time: the next one continues from the log.",
  begin,
};

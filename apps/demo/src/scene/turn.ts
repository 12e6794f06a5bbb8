/** The scene "Talk": a turn of an agent whose worker is killed in mid-word, who asks for approval and for its budget. */
import { button, el } from "@pawl/inspector/dom";
import type { WorkerState } from "../page/engine-client.ts";
import { beginEngine, forkEngine } from "../page/engine-scene.ts";
import { beginAnew, sessionOf } from "../page/memory.ts";
import type { Scene, Stage } from "../page/scene.ts";
import type { CallStory, Story } from "../page/story.ts";
import { verdictLine } from "../page/verdict.ts";
import { runBeside } from "../turn/beside.ts";
import { otherVenue, task, venueStep } from "../turn/team-day.ts";
import type { AnswerStory, BudgetAsk } from "../turn/turn-story.ts";
import { ApprovalCard } from "./ask.ts";
import { speech, toolCard } from "./talk.ts";
import { turnVerdict } from "./turn-verdict.ts";

/** The pause before the next worker starts, so that the user sees that there is none. */
const restartMs = 1100;

const badgeWords: { readonly [D in WorkerState]: (n: number) => string } = {
  begins: (n) => `Worker ${n} starts`,
  runs: (n) => `Worker ${n} is alive`,
  dead: (n) => `Worker ${n} is dead`,
};

/** Draws an answer: words on record, words that are only shown, and words that died with a worker until they are said again. */
const answerElement = ({ said, recorded, kept, lost, isOver }: AnswerStory): HTMLElement => {
  const ghost = lost.slice(said.length - kept);
  return el(
    "p",
    { class: `said agent answer ${isOver ? "over" : "speaks"}` },
    el("span", { class: "who" }, "Agent"),
    said.slice(0, recorded),
    el("span", { class: "shown" }, said.slice(recorded)),
    isOver || ghost === "" ? undefined : el("del", {}, ghost),
  );
};

/** Draws the answers of a run, with what they asked for. */
const conversation = (story: Story, cardOf: (call: CallStory) => HTMLElement): readonly HTMLElement[] =>
  story.turn.answers.flatMap((answer) => [
    ...(answer.said === "" && answer.lost === "" ? [] : [answerElement(answer)]),
    ...answer.calls.flatMap((ref) => {
      const call = story.calls.find((one) => one.ref === ref);
      return call === undefined ? [] : [cardOf(call)];
    }),
  ]);

const budgetCard = ({ answers }: BudgetAsk, decide: (more: boolean) => void): HTMLElement =>
  el(
    "article",
    { class: "decision asks budget" },
    el("header", {}, el("h2", {}, "The budget is used up"), el("p", { class: "verdict" }, "Needs a decision")),
    el("p", { class: "args" }, `${answers} of ${answers} answers of the model`),
    el(
      "div",
      { class: "actions" },
      button("Allow one more", { class: "primary" }, () => decide(true)),
      button("Stop here", {}, () => decide(false)),
    ),
  );

const waitingCard = (call: CallStory): HTMLElement =>
  el("p", { class: "hint" }, `Here it would ask before it calls ${call.tool}.`);

const begin = (stage: Stage): (() => void) => {
  const cards = new Map<string, ApprovalCard>();
  const badge = el("p", { class: "worker", role: "status" });
  const verdict = verdictLine();
  const talk = el("div", { class: "talk" });
  const beside = el("div", { class: "beside", hidden: true });
  const running = new AbortController();
  const complain = (thrown: unknown): void => stage.fault(String(thrown));
  let restart: ReturnType<typeof setTimeout> | undefined;
  const start = button("Run the agent", { class: "primary" }, () => scene.run());
  const kill = button("Kill the worker", { class: "danger" }, () => {
    scene.engine.kill();
    restart = setTimeout(() => scene.engine.start(), restartMs);
  });
  const swap = button("Swap the venue", {}, () => {
    swap.disabled = true;
    const of = { step: venueStep, value: otherVenue };
    const session = sessionOf("turn");
    const how = { log: scene.engine.log, session, swap: of, engine: forkEngine("turn") };
    runBeside({ ...how, signal: running.signal, draw: showBeside }).catch((thrown: unknown) => {
      if (!running.signal.aborted) complain(thrown);
    });
  });
  const again = button("Start over", { class: "quiet" }, () => {
    beginAnew("turn");
    stage.again();
  });
  const controls = el("div", { class: "controls" }, badge, kill, start, swap, again);
  stage.element.append(controls, verdict.element, talk, beside);

  const cardOf = (call: CallStory): HTMLElement => {
    if (call.tool !== "pay_deposit") return toolCard(call, [venueStep], scene.engine.diedAt);
    const known = cards.get(call.ref);
    const card = known ?? new ApprovalCard((verb) => void scene.engine.ask(verb).catch(complain));
    cards.set(call.ref, card);
    card.show(call);
    return card.element;
  };
  const decide = (ask: number, more: boolean): void =>
    void scene.engine.ask({ type: "budget", ask, more }).catch(complain);

  const showBeside = (story: Story): void => {
    beside.hidden = false;
    const column = (title: string, of: Story): HTMLElement => {
      const [, answer] = of.turn.answers;
      const words = answer === undefined ? [] : [answerElement(answer)];
      const next =
        story === of && answer?.isOver === true ? of.calls.filter(({ approval }) => approval).map(waitingCard) : [];
      return el("section", {}, el("h2", {}, title), ...words, ...next);
    };
    beside.replaceChildren(column("As it was", scene.story), column("With Mill House", story));
  };

  const draw = (): void => {
    const { story, engine } = scene;
    const { turn } = story;
    const hasEnded = turn.end !== undefined;
    verdict.say(turnVerdict(turn, engine.isAlive));
    start.hidden = scene.isStarted();
    kill.hidden = !scene.isStarted() || hasEnded;
    kill.disabled = !engine.isAlive;
    swap.hidden = !hasEnded || turn.answers.length < 2;
    again.hidden = !hasEnded;
    const wanted = [
      speech("you", task),
      ...conversation(story, cardOf),
      ...(turn.budget === undefined ? [] : [budgetOf(turn.budget)]),
    ];
    const grows = wanted.length > talk.children.length;
    replace(talk, wanted);
    if (grows && scene.isStarted()) talk.lastElementChild?.scrollIntoView({ block: "nearest" });
  };
  const budgets = new Map<number, HTMLElement>();
  const budgetOf = (of: BudgetAsk): HTMLElement => {
    const card = budgets.get(of.ask) ?? budgetCard(of, (more) => decide(of.ask, more));
    budgets.set(of.ask, card);
    return card;
  };
  const scene = beginEngine("turn", stage, {
    draw: () => queueMicrotask(draw),
    worker: (n, does) => {
      badge.className = `worker ${does === "dead" ? "dead" : "alive"}`;
      badge.textContent = badgeWords[does](n);
    },
  });
  return () => {
    running.abort();
    clearTimeout(restart);
    scene.end();
  };
};

/** Puts elements in place. One that stays is not touched, so that what a person types into it stays as well. */
const replace = (parent: HTMLElement, wanted: readonly HTMLElement[]): void => {
  const kept = new Set(wanted);
  for (const child of parent.querySelectorAll<HTMLElement>(":scope > *")) if (!kept.has(child)) child.remove();
  for (const [i, child] of wanted.entries())
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
};

export const turnScene: Scene = {
  id: "turn",
  name: "Talk",
  title: "Kill an agent in mid-word",
  lede: "A model answers word by word. Kill its worker: the next one goes on in mid-word. Then approve what it wants to pay, and decide on its budget.",
  begin,
};

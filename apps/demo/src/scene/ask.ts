/** The scene "Ask me": calls that need approval, decided in any order, with edited arguments, across a reload. */
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import { stringify } from "@pawl/tool-value";
import { month } from "../agent/script.ts";
import type { Verb } from "../engine/message.ts";
import { button, el } from "@pawl/inspector/dom";
import { beginEngine } from "../page/engine-scene.ts";
import { beginAnew } from "../page/memory.ts";
import type { Scene, Stage } from "../page/scene.ts";
import type { CallStory } from "../page/story.ts";
import { inWords, speech } from "./talk.ts";

const titles: { readonly [tool: string]: string } = {
  pay: "Pay an invoice",
  pay_deposit: "Pay the deposit",
  post: "Post to the team",
  delete_drafts: "Delete old drafts",
};

const fieldOf = (name: string, value: Json): { readonly label: HTMLElement; readonly input: HTMLInputElement } => {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const input = el("input", {
    name,
    type: isNumber ? "number" : "text",
    required: true,
    ...(isNumber ? { min: "1" } : {}),
    value: typeof value === "string" ? value : stringify(value),
  });
  const label = el("label", {}, el("span", {}, name.replaceAll("_", " ")), input);
  label.style.flexBasis = `${Math.min(28, input.value.length + 5)}ch`;
  return { label, input };
};

/** Returns the arguments in the fields, or undefined if they are unchanged. */
const editedArgs = (args: JsonObject, inputs: readonly HTMLInputElement[]): Json | undefined => {
  const now = Object.fromEntries(
    inputs.map(({ name, type, value }) => [name, type === "number" ? Number(value) : value] as const),
  );
  return stringify(now) === stringify(args) ? undefined : now;
};

const words = (call: CallStory): string => {
  if (call.approval !== undefined) return "Needs approval";
  if (call.decision === "reject") return "Rejected";
  if (call.decision === "approve_edited")
    return call.end === undefined ? "Running with your changes" : "Done, with your changes";
  if (call.decision === "approve") return call.end === undefined ? "Running" : "Done";
  return "Preparing";
};

/** The card of one call: a form while it needs approval, then its outcome. */
export class ApprovalCard {
  readonly element = el("article", { class: "decision" });
  readonly #decide: (verb: Verb) => void;
  #shown = "";

  constructor(decide: (verb: Verb) => void) {
    this.#decide = decide;
  }

  /** Draws the call if it has changed. Otherwise the user's input stays. */
  show(call: CallStory): void {
    const now = `${call.approval?.hash} ${call.decision} ${call.end?.status}`;
    if (now === this.#shown) return;
    this.#shown = now;
    this.element.dataset["tool"] = call.tool;
    this.element.className = `decision ${call.approval === undefined ? (call.decision ?? "waits") : "asks"}`;
    const title = el("h2", {}, titles[call.tool] ?? call.tool);
    const content = call.approval === undefined ? [this.#outcome(call)] : this.#form(call, call.approval);
    this.element.replaceChildren(el("header", {}, title, el("p", { class: "verdict" }, words(call))), ...content);
  }

  #outcome(call: CallStory): HTMLElement {
    const args = call.end?.status === "success" ? (call.end.value as { readonly done?: Json } | null)?.done : undefined;
    return el("p", { class: "args" }, inWords(args ?? call.args));
  }

  #form({ ref }: CallStory, { hash, args }: NonNullable<CallStory["approval"]>): readonly HTMLElement[] {
    const fields = isObject(args) ? Object.entries(args).map(([name, value]) => fieldOf(name, value)) : [];
    const inputs = fields.map(({ input }) => input);
    const approve = button("Approve", { class: "primary" }, () => {
      if (!inputs.every((input) => input.reportValidity())) return;
      const edited = isObject(args) ? editedArgs(args, inputs) : undefined;
      this.#decide({ type: "approve", call: ref, hash, ...(edited !== undefined && { args: edited }) });
    });
    for (const input of inputs)
      input.addEventListener("input", () => {
        const isEdited = isObject(args) && editedArgs(args, inputs) !== undefined;
        approve.textContent = isEdited ? "Approve with changes" : "Approve";
      });
    const reject = button("Reject", {}, () =>
      this.#decide({ type: "reject", call: ref, hash, reason: "declined by the person in charge" }),
    );
    return [
      el(
        "div",
        { class: "form" },
        el("div", { class: "fields" }, ...fields.map(({ label }) => label)),
        el("div", { class: "actions" }, approve, reject),
      ),
    ];
  }
}

const begin = (stage: Stage): (() => void) => {
  const cards = new Map<string, ApprovalCard>();
  const [head, list, tail] = [
    el("div", { class: "talk" }),
    el("div", { class: "decisions" }),
    el("div", { class: "talk" }),
  ];
  const start = button("Run the agent", { class: "primary" }, () => scene.run());
  const reload = button("Reload the page", {}, () => location.reload());
  const hint = el("p", { class: "hint" }, "at any point: nothing is lost.");
  const again = button("Start over", { class: "quiet" }, () => {
    beginAnew("ask");
    stage.again();
  });
  stage.element.append(el("div", { class: "controls" }, start, reload, hint, again), head, list, tail);
  const decide = (verb: Verb): void =>
    void scene.engine.ask(verb).catch((thrown: unknown) => stage.fault(String(thrown)));

  const draw = (): void => {
    const { story } = scene;
    const isOver = story.words.length > 1;
    start.hidden = scene.isStarted();
    reload.hidden = !scene.isStarted() || isOver;
    hint.hidden = reload.hidden;
    again.hidden = !isOver;
    head.replaceChildren(
      speech("you", month.task),
      ...(story.words[0] === undefined ? [] : [speech("agent", story.words[0])]),
    );
    for (const call of story.calls.filter(({ tool }) => tool !== "ask_model")) {
      const card = cards.get(call.ref) ?? new ApprovalCard(decide);
      if (!cards.has(call.ref)) {
        cards.set(call.ref, card);
        list.append(card.element);
      }
      card.show(call);
    }
    const last = isOver ? story.words.at(-1) : undefined;
    tail.replaceChildren(...(last === undefined ? [] : [speech("agent", last)]));
  };
  const scene = beginEngine("ask", stage, { draw: () => queueMicrotask(draw) });
  return scene.end;
};

export const askScene: Scene = {
  id: "ask",
  name: "Ask me",
  title: "Calls that need your approval",
  lede: "Decide in any order, edit the arguments, reload in between, or come back tomorrow. Exactly what you approved will run.",
  begin,
};

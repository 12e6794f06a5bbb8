/** The panes about one event: its content, commands and changes; the state after it; the open waits. */
import { type Json, formatPath, stringify } from "@pawl/tool-value";
import type { Entry } from "../../model/entry.ts";
import type { CommandView, Moment, Waiting } from "../../model/moment.ts";
import type { RowChange, Section } from "../../model/tree.ts";
import { clock, el } from "../../dom.ts";
import { jsonTree } from "./json-tree.ts";

const block = (title: string, count: number | undefined, ...content: readonly HTMLElement[]): HTMLElement =>
  el(
    "section",
    { class: "block" },
    el("h3", {}, title, count === undefined ? undefined : el("span", { class: "count" }, String(count))),
    ...content,
  );

export const nothing = (words: string): HTMLElement => el("p", { class: "nothing" }, words);

const commandOf = ({ type, words, duty, json }: CommandView): HTMLElement =>
  el(
    "li",
    { class: "command" },
    el("p", {}, words),
    el("p", { class: "duty" }, el("code", { class: "type" }, type), " ", duty),
    jsonTree("command", json),
  );

const maxLength = 160;
const valueText = (json: Json): string => {
  const text = stringify(json);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
};

/** Shows one difference in a row: the old value and the new one. */
const differenceOf = ({ path, expected, found }: RowChange["differences"][number]): HTMLElement =>
  el(
    "p",
    { class: "difference" },
    el("code", {}, formatPath(path).replace(/^\$\.?/, "")),
    expected === undefined ? undefined : el("del", {}, valueText(expected)),
    found === undefined ? undefined : el("ins", {}, valueText(found)),
  );

const changeOf = ({ section, key, type, differences }: RowChange): HTMLElement =>
  el(
    "li",
    { class: `change ${type}` },
    el("p", {}, el("b", {}, section), " ", el("code", {}, key), " ", el("span", { class: "verb" }, type)),
    ...differences.slice(0, 12).map(differenceOf),
  );

const lineOf = (line: string): HTMLElement => el("pre", { class: "line", tabindex: "0" }, line);

/** Shows the fork's event at the same place, or its last one. */
export const besidePane = (beside: Moment | undefined): readonly HTMLElement[] =>
  beside === undefined ? [] : [block(`In the fork: event ${beside.seq}`, undefined, lineOf(beside.line))];

const epochMeaning = "An epoch is the time during which a log has one owner";

export const eventPane = (moment: Moment, entry: Entry | undefined): readonly HTMLElement[] => {
  const { known, line } = moment;
  const head = el(
    "header",
    { class: "event-head" },
    el("h2", {}, entry?.type ?? "no event"),
    el(
      "p",
      { title: epochMeaning },
      entry === undefined ? "" : `event ${entry.seq} · epoch ${entry.epoch} · ${clock(entry.at)}`,
    ),
    entry === undefined || entry.gist === "" ? undefined : el("p", { class: "gist-line" }, entry.gist),
  );
  const event = (moment.json as { readonly event?: typeof moment.json } | null)?.event ?? null;
  const content = block("Content", undefined, jsonTree("event", event, true));
  const text = block("Line in the log", undefined, lineOf(line));
  if (known === undefined)
    return [head, nothing("This line follows a fault, so its effects are not known."), content, text];
  const { commands, changes, deadline } = known;
  const next = deadline === undefined ? undefined : nothing(`Next deadline: ${clock(deadline.at)}`);
  return [
    head,
    block(
      "Commands",
      commands.length,
      commands.length === 0
        ? nothing("None: this event was only recorded.")
        : el("ul", { class: "commands" }, ...commands.map(commandOf)),
      ...(next === undefined ? [] : [next]),
    ),
    block("Changes", changes.length, el("ul", { class: "changes" }, ...changes.map(changeOf))),
    content,
    text,
  ];
};

const sectionOf = ({ name, total, rows }: Section): HTMLElement => {
  const hasChanged = rows.some(({ isChanged }) => isChanged);
  const summary = el(
    "summary",
    {},
    el("b", {}, name),
    el("span", { class: "count" }, String(total)),
    hasChanged ? el("span", { class: "fresh" }, "changed") : undefined,
  );
  const details = el("details", { class: "table" }, summary);
  const fill = (): void => {
    if (!details.open || details.childElementCount > 1) return;
    for (const { key, value, isChanged } of rows) {
      const tree = jsonTree(key, value, isChanged && rows.length < 20);
      tree.classList.toggle("fresh", isChanged);
      details.append(tree);
    }
  };
  details.addEventListener("toggle", fill);
  details.open = hasChanged;
  fill();
  return details;
};

export const statePane = ({ known }: Moment): readonly HTMLElement[] =>
  known === undefined ? [nothing("The state is not known after a fault.")] : known.tree.map(sectionOf);

const waitingOf = ({ call, words, since, until, movedBy }: Waiting): HTMLElement =>
  el(
    "li",
    { class: "waiting" },
    call === undefined ? undefined : el("code", {}, call),
    el("p", {}, words),
    el(
      "p",
      { class: "duty" },
      [
        since === undefined ? "" : `since event ${since}`,
        until === undefined ? "" : `until ${clock(until)}`,
        movedBy.length === 0 ? "" : `continues with ${movedBy.join(" or ")}`,
      ]
        .filter((part) => part !== "")
        .join(" · "),
    ),
  );

export const waitingPane = ({ known }: Moment): readonly HTMLElement[] => {
  const waiting = known?.waiting ?? [];
  if (waiting.length === 0) return [nothing("Nothing waits: everything that was asked for up to this event is done.")];
  return [el("ul", { class: "waitings" }, ...waiting.map(waitingOf))];
};

/** JSON as a tree that opens where one looks: what is deep is made when it is opened. */
import { type Json, stringify } from "@pawl/tool-value";
import { el } from "../../dom.ts";

const long = 72;

const isDeep = (json: Json): json is object & Json => typeof json === "object" && json !== null;

const leafClass = (json: Json): string => (json === null ? "null" : typeof json);

const short = (json: Json): string => {
  const text = stringify(json);
  return text.length > long ? `${text.slice(0, long)}…` : text;
};

const childrenOf = (json: object & Json): readonly (readonly [string, Json])[] =>
  Array.isArray(json) ? json.map((item: Json, i) => [String(i), item] as const) : Object.entries(json);

/** So many children are shown at once. */
const most = 200;

const branch = (name: string, json: object & Json, isOpen: boolean): HTMLElement => {
  const children = childrenOf(json);
  const summary = el("summary", {}, el("b", {}, name), " ", el("i", {}, short(json)));
  const details = el("details", {}, summary);
  const fill = (): void => {
    if (!details.open || details.childElementCount > 1) return;
    for (const [key, child] of children.slice(0, most)) details.append(jsonTree(key, child));
    if (children.length > most) details.append(el("p", { class: "more" }, `and ${children.length - most} more`));
  };
  details.addEventListener("toggle", fill);
  details.open = isOpen;
  fill();
  return details;
};

/** A named piece of JSON. */
export const jsonTree = (name: string, json: Json, isOpen = false): HTMLElement =>
  isDeep(json) && childrenOf(json).length > 0
    ? branch(name, json, isOpen)
    : el("p", { class: "leaf" }, el("b", {}, name), " ", el("i", { class: leafClass(json) }, stringify(json)));

/** JSON as a tree of `details`. The children of a node are created when it is opened. */
import { type Json, stringify } from "@pawl/tool-value";
import { el } from "../../dom.ts";

const maxLength = 72;

const isDeep = (json: Json): json is object & Json => typeof json === "object" && json !== null;

const leafClass = (json: Json): string => (json === null ? "null" : typeof json);

const short = (json: Json): string => {
  const text = stringify(json);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
};

const childrenOf = (json: object & Json): readonly (readonly [string, Json])[] =>
  Array.isArray(json) ? json.map((item: Json, i) => [String(i), item] as const) : Object.entries(json);

const maxChildren = 200;

const branch = (name: string, json: object & Json, isOpen: boolean): HTMLElement => {
  const children = childrenOf(json);
  const summary = el("summary", {}, el("b", {}, name), " ", el("i", {}, short(json)));
  const details = el("details", {}, summary);
  const fill = (): void => {
    if (!details.open || details.childElementCount > 1) return;
    for (const [key, child] of children.slice(0, maxChildren)) details.append(jsonTree(key, child));
    const hidden = children.length - maxChildren;
    if (hidden > 0) details.append(el("p", { class: "more" }, `and ${hidden} more`));
  };
  details.addEventListener("toggle", fill);
  details.open = isOpen;
  fill();
  return details;
};

/** Creates the tree of a named JSON value. */
export const jsonTree = (name: string, json: Json, isOpen = false): HTMLElement =>
  isDeep(json) && childrenOf(json).length > 0
    ? branch(name, json, isOpen)
    : el("p", { class: "leaf" }, el("b", {}, name), " ", el("i", { class: leafClass(json) }, stringify(json)));

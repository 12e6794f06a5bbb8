/** Elements in one expression. Every text becomes a text node: nothing of a log is ever read as markup. */
export type Child = Node | string | undefined;

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** Makes an element with its attributes and children. */
export const el = <T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
};

/** Makes a button with an action. */
export const button = (label: string, attributes: Attributes, press: () => void): HTMLButtonElement => {
  const element = el("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", press);
  return element;
};

/** Finds an element of the page that is always there. */
export const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
};

/** Says something to those who hear the page, and shows it for a while. */
export const announce = (text: string, tone: "fine" | "failed" = "fine"): void => {
  const said = byId("said");
  said.className = `said ${tone}`;
  said.textContent = text;
};

const spans: readonly (readonly [ms: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** Says how long ago a time was, or how long it is until then. */
export const ago = (at: number, now = Date.now()): string => {
  const [ms, unit] = spans.find(([one]) => Math.abs(at - now) >= one) ?? [1000, "second"];
  return words.format(Math.trunc((at - now) / ms), unit);
};

/** Makes a time that says how long ago it was, and when exactly. */
export const timeOf = (at: number): HTMLTimeElement =>
  el("time", { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString() }, ago(at));

/** The length up to which JSON stands on one line. */
const shortJson = 60;

/** Writes a value as a person reads it: a text as it is, the rest as JSON. */
export const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  const line = JSON.stringify(value) ?? "nothing";
  return line.length <= shortJson ? line : JSON.stringify(value, undefined, 2);
};

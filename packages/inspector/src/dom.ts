/** `@pawl/inspector/dom`: helpers that create elements in one expression. */
type Child = Node | string | undefined;

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** Makes an element with its attributes and children in one expression. */
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

/** Makes a button with a label and an action. */
export const button = (label: string | Node, attributes: Attributes, press: () => void): HTMLButtonElement => {
  const element = el("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", press);
  return element;
};

/** Creates an icon from a path in a 16 by 16 square. */
export const icon = (path: string): SVGSVGElement => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
};

/** Returns a function that draws at most once in a frame. */
export const onceAFrame = (draw: () => void): (() => void) => {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      draw();
    });
  };
};

const padded = (n: number, length = 2): string => String(n).padStart(length, "0");

/** Formats a time of a log in the local time zone. */
export const clock = (at: number): string => {
  const date = new Date(at);
  const [h, m, s] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => padded(n));
  return `${h}:${m}:${s}.${padded(date.getMilliseconds(), 3)}`;
};

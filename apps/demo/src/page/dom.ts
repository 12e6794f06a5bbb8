/** Elements, made in one expression. */
type Child = Node | string | undefined;

export const el = <T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: { readonly [name: string]: string | number | boolean | undefined } = {},
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

export const press = (label: string, className: string, then: () => void): HTMLButtonElement => {
  const button = el("button", { type: "button", class: className }, label);
  button.addEventListener("click", then);
  return button;
};

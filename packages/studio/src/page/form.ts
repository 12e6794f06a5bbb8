/** Arguments, shown and edited by the JSON Schema of their tool: a field for each property, JSON where a field says less. */
import { el, textOf } from "./dom.ts";

export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
}
type Values = { readonly [name: string]: unknown };

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Shows arguments as a list of names and values. */
export const shown = (args: unknown, schema: Schema = {}): HTMLElement => {
  if (!isValues(args)) return el("pre", { class: "value" }, textOf(args));
  const entries = Object.entries(args);
  if (entries.length === 0) return el("p", { class: "soft" }, "no arguments");
  return el(
    "dl",
    { class: "args" },
    ...entries.flatMap(([name, value]) => [
      el("dt", { title: schema.properties?.[name]?.description }, schema.properties?.[name]?.title ?? name),
      el("dd", {}, typeof value === "object" && value !== null ? el("pre", {}, textOf(value)) : textOf(value)),
    ]),
  );
};

/** A form over arguments. `read` returns them as they are now, and throws what of them is wrong. */
export interface ArgumentForm {
  readonly element: HTMLElement;
  readonly read: () => unknown;
}

interface Field {
  readonly element: HTMLElement;
  /** Returns the value; undefined where the field is empty. */
  readonly read: () => unknown;
}

let count = 0;
const nextId = (): string => `field-${(count += 1)}`;

const parsed = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name}: expected JSON, found \`${text.slice(0, 40)}\``);
  }
};

const numberIn = (name: string, text: string, isWhole: boolean): number => {
  const value = Number(text);
  if (text.trim() === "" || Number.isNaN(value) || (isWhole && !Number.isInteger(value)))
    throw new Error(`${name}: expected a ${isWhole ? "whole " : ""}number, found \`${text}\``);
  return value;
};

const labelled = (name: string, schema: Schema, control: HTMLElement, isRequired: boolean): HTMLElement => {
  const id = nextId();
  control.id = id;
  const hint =
    schema.description === undefined ? undefined : el("p", { class: "hint", id: `${id}-hint` }, schema.description);
  if (hint !== undefined) control.setAttribute("aria-describedby", hint.id);
  const label = el("label", { for: id }, `${schema.title ?? name}${isRequired ? "" : " (optional)"}`);
  return el("div", { class: "field" }, label, control, hint);
};

const choice = (name: string, schema: Schema, value: unknown): Field => {
  const options = (schema.enum ?? []).map((one, i) =>
    el("option", { value: i, selected: JSON.stringify(one) === JSON.stringify(value) }, textOf(one)),
  );
  const control = el("select", { name }, ...options);
  return { element: control, read: () => schema.enum?.[Number(control.value)] };
};

const tick = (name: string, value: unknown): Field => {
  const control = el("input", { type: "checkbox", name });
  control.checked = value === true;
  return { element: control, read: () => control.checked };
};

const number = (name: string, { type }: Schema, value: unknown): Field => {
  const control = el("input", {
    name,
    inputmode: "decimal",
    autocomplete: "off",
    value: value === undefined ? "" : String(value),
  });
  return {
    element: control,
    read: () => (control.value === "" ? undefined : numberIn(name, control.value, type === "integer")),
  };
};

const rowsOf = (text: string): number => Math.min(12, text.split("\n").length + Math.floor(text.length / 80));

const words = (name: string, value: unknown): Field => {
  const text = typeof value === "string" ? value : "";
  const control = el("textarea", { name, rows: rowsOf(text), spellcheck: "false" }, text);
  const wasAbsent = value === undefined;
  return { element: control, read: () => (wasAbsent && control.value === "" ? undefined : control.value) };
};

const json = (name: string, value: unknown): Field => {
  const text = value === undefined ? "" : JSON.stringify(value, undefined, 2);
  const control = el("textarea", { name, class: "code", rows: rowsOf(text), spellcheck: "false" }, text);
  return { element: control, read: () => (control.value.trim() === "" ? undefined : parsed(name, control.value)) };
};

const fieldOf = (name: string, schema: Schema, value: unknown): Field => {
  if (schema.enum !== undefined) return choice(name, schema, value);
  if (schema.type === "boolean") return tick(name, value);
  if ((schema.type === "number" || schema.type === "integer") && (value === undefined || typeof value === "number"))
    return number(name, schema, value);
  if (schema.type === "string" && (value === undefined || typeof value === "string")) return words(name, value);
  return json(name, value);
};

const whole = (args: unknown): ArgumentForm => {
  const field = json("arguments", args);
  return { element: labelled("arguments", {}, field.element, true), read: () => field.read() ?? null };
};

/** Makes the form of some arguments. What the schema does not name stays, and is edited as JSON. */
export const argumentForm = (args: unknown, schema: Schema = {}): ArgumentForm => {
  const { properties = {}, required = [] } = schema;
  if (!isValues(args) || Object.keys(properties).length === 0) return whole(args);
  const names = [...new Set([...Object.keys(properties), ...Object.keys(args)])];
  const fields = names.map((name) => [name, fieldOf(name, properties[name] ?? {}, args[name])] as const);
  return {
    element: el(
      "div",
      { class: "fields" },
      ...fields.map(([name, { element }]) => labelled(name, properties[name] ?? {}, element, required.includes(name))),
    ),
    read: () =>
      Object.fromEntries(
        fields.flatMap(([name, { read }]) => {
          const value = read();
          return value === undefined ? [] : [[name, value]];
        }),
      ),
  };
};

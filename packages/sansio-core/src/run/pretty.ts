/** JSON as people read it: two spaces a level, keys in the order of canonical text. */
import { type Json, type JsonObject, stringify } from "@pawl/tool-value";

const isEmpty = (value: object): boolean => (Array.isArray(value) ? value : Object.keys(value)).length === 0;
const byText = (a: string, b: string): number => (a < b ? -1 : 1);

const partsOf = (value: readonly Json[] | JsonObject): readonly (readonly [head: string, part: Json])[] =>
  Array.isArray(value)
    ? value.map((part) => ["", part])
    : Object.entries(value as JsonObject)
        .toSorted(([a], [b]) => byText(a, b))
        .map(([key, part]) => [`${stringify(key)}: `, part]);

interface Open {
  readonly parts: readonly (readonly [string, Json])[];
  readonly close: string;
  next: number;
}

const opened = (value: readonly Json[] | JsonObject): Open => ({
  parts: partsOf(value),
  close: Array.isArray(value) ? "]" : "}",
  next: 0,
});

/** Keeps its own stack: no depth of input overflows that of the language. */
export const pretty = (value: Json): string => {
  const text: string[] = [];
  const stack: Open[] = [];
  const put = (one: Json): void => {
    const isNested = typeof one === "object" && one !== null && !isEmpty(one);
    text.push(isNested ? (Array.isArray(one) ? "[" : "{") : stringify(one));
    if (isNested) stack.push(opened(one));
  };
  put(value);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const part = top.parts[top.next];
    if (part === undefined) {
      stack.pop();
      text.push(`\n${"  ".repeat(stack.length)}${top.close}`);
      continue;
    }
    text.push(`${top.next === 0 ? "" : ","}\n${"  ".repeat(stack.length)}${part[0]}`);
    top.next += 1;
    put(part[1]);
  }
  return text.join("");
};

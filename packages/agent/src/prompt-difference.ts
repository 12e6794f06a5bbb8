/** The first difference between two prompts, by message, part and field. */
import type { PromptMessage } from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";

/** All that a model is asked with. */
export interface AskedWith {
  readonly model: Json;
  readonly settings: Json;
  readonly tools: Json;
  readonly toolChoice: Json;
  readonly output: Json;
  readonly messages: readonly PromptMessage[];
}

export interface PromptDifference {
  /** The place of the message, and who says it, where the difference is in one. */
  readonly message?: number;
  readonly role?: string;
  /** The place of the part in the message. */
  readonly part?: number;
  /** The field, as a path. */
  readonly field: string;
  /** Absent where there is nothing. */
  readonly expected?: Json;
  readonly found?: Json;
}

type Fields = { readonly [field: string]: Json | undefined };
const isContainer = (u: Json | undefined): u is Extract<Json, object> => typeof u === "object" && u !== null;

/** Returns the path of the first difference, and what is there. */
const firstIn = (
  expected: Json | undefined,
  found: Json | undefined,
  path: readonly string[],
): { readonly path: readonly string[]; readonly expected?: Json; readonly found?: Json } | undefined => {
  if (isContainer(expected) && isContainer(found) && Array.isArray(expected) === Array.isArray(found)) {
    const [was, is] = [expected as Fields, found as Fields];
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const inner = firstIn(was[key], is[key], [...path, key]);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  if (expected === found || (expected !== undefined && found !== undefined && stringify(expected) === stringify(found)))
    return undefined;
  return {
    path,
    ...(expected === undefined ? {} : { expected }),
    ...(found === undefined ? {} : { found }),
  };
};

/** Returns the first difference between what was asked then and what is asked now. */
export const promptDifference = (was: AskedWith, is: AskedWith): PromptDifference | undefined => {
  const found = firstIn(was as unknown as Json, is as unknown as Json, []);
  if (found === undefined) return undefined;
  const { path, ...values } = found;
  const [top, index, ...rest] = path;
  if (top !== "messages" || index === undefined) return { field: path.join("."), ...values };
  const message = Number(index);
  const { role } = (is.messages[message] ?? was.messages[message]) as PromptMessage;
  const [content, part, ...inPart] = rest;
  if (content !== "content" || part === undefined) return { message, role, field: rest.join("."), ...values };
  return { message, role, part: Number(part), field: inPart.join("."), ...values };
};

const mostShown = 200;
const shown = (value: Json | undefined): string => {
  if (value === undefined) return "nothing";
  const text = stringify(value);
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
};

/** Says a difference in one line. */
export const differenceText = ({ message, role, part, field, expected, found }: PromptDifference): string => {
  const place = [
    ...(message === undefined ? [] : [`message ${message} (${role})`]),
    ...(part === undefined ? [] : [`part ${part}`]),
    ...(field === "" ? [] : [`field \`${field}\``]),
  ].join(", ");
  return `${place}: expected ${shown(expected)}, found ${shown(found)}`;
};

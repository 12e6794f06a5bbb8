/** The result of edits on a text. Each old text must occur exactly once in the original, and edits must not overlap. */
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import { cutTo, codePoints } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";

export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
}
type Checked<A> = E.Either<string, A>;

const none = "edit_file requires a non-empty edits[] array; each entry needs old_text and new_text";

const editOf = (item: Json, n: number): Checked<Edit> => {
  const { old_text, new_text } = isObject(item) ? item : {};
  if (typeof old_text !== "string") return E.left(`Edit ${n} is missing old_text`);
  if (typeof new_text !== "string") return E.left(`Edit ${n} is missing new_text`);
  return old_text === "" ? E.left(`Edit ${n} has an empty old_text`) : E.right({ old_text, new_text });
};

const legacy = ({ old_text, new_text }: JsonObject): readonly Edit[] =>
  typeof old_text === "string" && old_text !== "" && typeof new_text === "string" ? [{ old_text, new_text }] : [];

/** Reads the edits of a call: first one in the legacy form, then the list. Duplicates count once. */
export const readEdits = (args: JsonObject): Checked<readonly Edit[]> => {
  const edits: Edit[] = [...legacy(args)];
  const given = args["edits"];
  for (const [i, item] of (Array.isArray(given) ? (given as readonly Json[]) : []).entries()) {
    const edit = editOf(item, i + 1);
    if (E.isLeft(edit)) return edit;
    const isKnown = edits.some((one) => one.old_text === edit.right.old_text && one.new_text === edit.right.new_text);
    if (!isKnown) edits.push(edit.right);
  }
  return edits.length === 0 ? E.left(none) : E.right(edits);
};

const quotedText = (text: string): string => {
  const line = text.replaceAll("\n", "\\n").replaceAll("\r", "\\r");
  return codePoints(line) <= 80 ? line : `${cutTo(line, 80)}...`;
};

interface Span {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const endingOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : text.includes("\r") ? "\r" : "\n");
const withEnding = (text: string, ending: string): string => text.replace(/\r\n|\r|\n/g, ending);

const bom = "\uFEFF";
const withoutMark = (text: string): string => (text.startsWith(bom) ? text.slice(bom.length) : text);

const spanOf = (text: string, { old_text, new_text }: Edit, ending: string): Checked<Span> => {
  const [wanted, instead] = [old_text, new_text].map((one) => withEnding(withoutMark(one), ending)) as [string, string];
  const start = text.indexOf(wanted);
  if (start === -1) return E.left(`Could not find an exact match for old_text: '${quotedText(old_text)}'`);
  if (text.includes(wanted, start + 1)) {
    return E.left(`old_text is ambiguous and matched multiple locations: '${quotedText(old_text)}'`);
  }
  return E.right({ start, end: start + wanted.length, text: instead });
};

export interface Planned {
  readonly text: string;
  /** Counted from 1; null if nothing has changed. */
  readonly firstChangedLine: number | null;
}

const firstDifference = (a: string, b: string): number | null => {
  if (a === b) return null;
  const [before, after] = [a, b].map((text) => text.split(/\r\n|\r|\n/)) as [string[], string[]];
  const first = before.findIndex((line, i) => line !== after[i]);
  return (first === -1 ? before.length : first) + 1;
};

/** Checks the edits of `edit_file` and applies them to a text. */
export const planEdits = (original: string, edits: readonly Edit[]): Checked<Planned> => {
  const text = withoutMark(original);
  const mark = text === original ? "" : bom;
  const ending = endingOf(text);
  const spans: Span[] = [];
  for (const edit of edits) {
    const span = spanOf(text, edit, ending);
    if (E.isLeft(span)) return span;
    spans.push(span.right);
  }
  const ordered = spans.toSorted((a, b) => a.start - b.start);
  if (ordered.some((span, i) => span.start < (ordered[i - 1]?.end ?? 0))) {
    return E.left("Edits overlap in the target file");
  }
  let next = "";
  let at = 0;
  for (const span of ordered) {
    next += text.slice(at, span.start) + span.text;
    at = span.end;
  }
  next += text.slice(at);
  return E.right({ text: mark + next, firstChangedLine: firstDifference(text, next) });
};

/** Unified diffs, with two lines of context. */
import { codePoints, cutTo } from "@pawl/sansio-core/driver";

const context = 2;
const maxCharacters = 16_000;

type Line = readonly [mark: " " | "-" | "+", text: string];

/** Counts the equal lines at both ends, so that the part to compare stays small. */
const commonEnds = (a: readonly string[], b: readonly string[]): readonly [number, number] => {
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [head, tail];
};

/** Above this size squared, finding the longest common subsequence is too slow. */
const maxCompared = 2000;

/** Compares by the longest common subsequence. Texts that are too long give all old lines, then all new ones. */
const middle = (a: readonly string[], b: readonly string[]): readonly Line[] => {
  const removed = a.map((text): Line => ["-", text]);
  const added = b.map((text): Line => ["+", text]);
  if (a.length * b.length > maxCompared * maxCompared || a.length === 0 || b.length === 0)
    return [...removed, ...added];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const longer = Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
      common[i * width + j] = a[i] === b[j] ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : longer;
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push([" ", a[i++] ?? ""]);
      j++;
    } else if ((common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0)) lines.push(["-", a[i++] ?? ""]);
    else lines.push(["+", b[j++] ?? ""]);
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)];
};

/** Returns the ranges of changed lines with their context. Ranges that touch become one. */
const hunksOf = (lines: readonly Line[]): readonly (readonly [from: number, to: number])[] => {
  const hunks: [number, number][] = [];
  for (const [i, [mark]] of lines.entries()) {
    if (mark === " ") continue;
    const [from, to] = [Math.max(0, i - context), Math.min(lines.length, i + context + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
};

const count = (lines: readonly Line[], mark: "-" | "+"): number =>
  lines.filter(([m]) => m === " " || m === mark).length;

/** Writes the range of a hunk: its first line, and its length unless that is one. An empty range names the line before. */
const rangeOf = (earlier: readonly Line[], own: readonly Line[], mark: "-" | "+"): string => {
  const [before, size] = [count(earlier, mark), count(own, mark)];
  return `${mark}${size === 0 ? before : before + 1}${size === 1 ? "" : `,${size}`}`;
};

/** Splits a text into lines with their line ends, so that a last line without one differs. */
const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.split(/(?<=\n)/));

const diffLine = ([mark, text]: Line): string =>
  text.endsWith("\n") ? mark + text : `${mark}${text}\n\\ No newline at end of file\n`;

export interface Difference {
  readonly diff: string;
  readonly isTruncated: boolean;
}

export const unified = (name: string, before: string, after: string): Difference => {
  const [a, b] = [linesOf(before), linesOf(after)];
  const [head, tail] = commonEnds(a, b);
  const lines: readonly Line[] = [
    ...a.slice(0, head).map((text): Line => [" ", text]),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map((text): Line => [" ", text]),
  ];
  const hunks = hunksOf(lines);
  let diff = hunks.length === 0 ? "" : `--- ${name} (before)\n+++ ${name} (after)\n`;
  for (const [from, to] of hunks) {
    const [earlier, own] = [lines.slice(0, from), lines.slice(from, to)];
    diff += `@@ ${rangeOf(earlier, own, "-")} ${rangeOf(earlier, own, "+")} @@\n${own.map(diffLine).join("")}`;
  }
  return codePoints(diff) <= maxCharacters
    ? { diff, isTruncated: false }
    : {
        diff: `${cutTo(diff, maxCharacters)}\n... diff truncated after ${maxCharacters} characters ...`,
        isTruncated: true,
      };
};

/** The output of a run: bounded, in code points, its streams named in front of every write. */

/** How far a log has been filled. */
export interface Filled {
  /** Code points. */
  readonly length: number;
  readonly isTruncated: boolean;
}
export const emptyOutput: Filled = { length: 0, isTruncated: false };

/** One write of a run. */
export interface Output {
  readonly stream: string;
  readonly delta: string;
}

const isLead = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** The place behind so many code points; the text's end, where it has fewer. */
const placeAfter = (text: string, count: number): number => {
  let place = 0;
  for (let n = 0; n < count && place < text.length; n++) place += isLead(text.charCodeAt(place)) ? 2 : 1;
  return Math.min(place, text.length);
};

/** Counts the code points of a text. */
export const codePoints = (text: string): number => {
  let count = 0;
  for (let place = 0; place < text.length; place += isLead(text.charCodeAt(place)) ? 2 : 1) count++;
  return count;
};

/** The first code points of a text. */
export const cutTo = (text: string, count: number): string =>
  text.length <= count ? text : text.slice(0, placeAfter(text, count));

export interface Write {
  readonly filled: Filled;
  /** What goes into the log. */
  readonly kept: string;
}

/** One write: what of it there is room for. Filling the log exactly cuts nothing; an empty write is none. */
export const writeOutput = (filled: Filled, { stream, delta }: Output, cap: number): Write => {
  if (delta === "") return { filled, kept: "" };
  const room = Math.max(0, cap - filled.length);
  if (room === 0) return { filled: { ...filled, isTruncated: true }, kept: "" };
  const chunk = `[${stream}] ${delta}`;
  const length = codePoints(chunk);
  if (length <= room) return { filled: { ...filled, length: filled.length + length }, kept: chunk };
  return { filled: { length: cap, isTruncated: true }, kept: cutTo(chunk, room) };
};

/** All writes of a run as its log, without the closing notes. */
export const logOf = (writes: readonly Output[], cap: number): Filled & { readonly text: string } => {
  let filled = emptyOutput;
  const kept: string[] = [];
  for (const write of writes) {
    const next = writeOutput(filled, write, cap);
    filled = next.filled;
    kept.push(next.kept);
  }
  return { ...filled, text: kept.join("") };
};

/** Marks the place where the log of a background run was cut. */
export const truncationNote = (cap: number): string => `\n[system] background output truncated at ${cap} characters\n`;

/** A text that came in one piece, under the same bound. */
export const bounded = (text: string, cap: number): string =>
  codePoints(text) <= cap ? text : cutTo(text, cap) + truncationNote(cap);

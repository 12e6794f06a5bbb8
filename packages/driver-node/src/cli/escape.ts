/**
 * Text of others, as a person may be shown it. Names and values come from models, clients and files: what would move a
 * cursor, end a line, or turn round the order of letters is escaped out as JSON spells it.
 */

/** Controls but the tab, ends of lines, and marks of direction. */
const unsafe = /(?!\t)(?:\p{Cc}|\p{Bidi_Control}|[\u2028\u2029])/gu;

const short: { readonly [letter: string]: string } = { "\n": "\\n", "\r": "\\r" };

const escapeChar = (letter: string): string =>
  short[letter] ?? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** One line, or a piece of it. */
export const escaped = (text: string): string => text.replaceAll(unsafe, escapeChar);

/** Lines that stay lines. */
export const escapedLines = (text: string): string => text.split("\n").map(escaped).join("\n");

const escape = "\u001b[";
/** Colours, as commands paint them; a name that brings one of its own does no more harm than that. */
const isColour = (piece: string): boolean => /^(?:[12]|22|3[12369])m/.test(piece);

/** One line with its colours. */
export const escapedLine = (line: string): string =>
  line
    .split(escape)
    .map((piece, i) => (i === 0 ? "" : isColour(piece) ? escape : escaped(escape)) + escaped(piece))
    .join("");

const isPlain = (word: string): boolean => /^[\w@%+=:,./#-]+$/.test(word);

/** A word as a shell reads it. What no person should be shown has to be escaped there, too. */
export const shellWord = (word: string): string => {
  if (isPlain(word)) return word;
  if (escaped(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${escaped(word.replaceAll("\\", "\\\\").replaceAll("'", "\\'"))}'`;
};

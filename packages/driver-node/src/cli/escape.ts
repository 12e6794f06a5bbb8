/**
 * Escapes text from models, clients and files before it is printed.
 *
 * A control character could move the cursor or hide text, and a bidi mark could reorder it. They are printed as JSON
 * escapes.
 */

/** Control characters except the tab, line separators, and bidi marks. */
const unsafe = /(?!\t)(?:\p{Cc}|\p{Bidi_Control}|[\u2028\u2029])/gu;

const short: { readonly [letter: string]: string } = { "\n": "\\n", "\r": "\\r" };

const escapeChar = (letter: string): string =>
  short[letter] ?? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Escapes one line, or a part of it. */
export const escaped = (text: string): string => text.replaceAll(unsafe, escapeChar);

/** Escapes each line of a text and keeps its line breaks. */
export const escapedLines = (text: string): string => text.split("\n").map(escaped).join("\n");

const escape = "\u001b[";
/** Matches the colour codes that commands print. A name with such a code can do no more than change a colour. */
const isColour = (piece: string): boolean => /^(?:[12]|22|3[12369])m/.test(piece);

/** Escapes one line and keeps its colours. */
export const escapedLine = (line: string): string =>
  line
    .split(escape)
    .map((piece, i) => (i === 0 ? "" : isColour(piece) ? escape : escaped(escape)) + escaped(piece))
    .join("");

const isPlain = (word: string): boolean => /^[\w@%+=:,./#-]+$/.test(word);

/** Quotes a word for a shell. Unsafe characters are escaped inside the quotes. */
export const shellWord = (word: string): string => {
  if (isPlain(word)) return word;
  if (escaped(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${escaped(word.replaceAll("\\", "\\\\").replaceAll("'", "\\'"))}'`;
};

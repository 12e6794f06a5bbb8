/**
 * Escapes text from models, clients and files before it is printed.
 *
 * A control character could move the cursor or hide text, a bidi mark could reorder it, and an invisible character could make
 * two names look the same. They are printed as JSON escapes.
 */

/** Controls except the tab, line separators, bidi marks, letters that have no width or no ink, and halves of letters. */
const unsafe =
  /(?![\t ])(?:\p{Cc}|\p{Cf}|\p{Cs}|\p{Zs}|\p{Zl}|\p{Zp}|\p{Bidi_Control}|\p{Default_Ignorable_Code_Point}|\u2800)/gu;

const short: { readonly [letter: string]: string } = { "\n": "\\n", "\r": "\\r" };

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

const escapeChar = (letter: string): string =>
  short[letter] ?? Array.from({ length: letter.length }, (_, i) => `\\u${hex(letter.charCodeAt(i), 4)}`).join("");

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

/** A shell knows letters beyond U+FFFF by eight digits. */
const escapeForShell = (letter: string): string =>
  letter.length === 1 ? escapeChar(letter) : `\\U${hex(letter.codePointAt(0) ?? 0, 8)}`;

/** Quotes a word for a shell. Unsafe characters are escaped inside the quotes. */
export const shellWord = (word: string): string => {
  if (isPlain(word)) return word;
  if (escaped(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll(unsafe, escapeForShell)}'`;
};

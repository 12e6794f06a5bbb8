/**
 * Spells out what people must not be shown as it is, in terminals and logs: a control character could move the cursor or hide
 * text, a bidi mark could reorder it, and an invisible character could make two names look the same. They become JSON escapes.
 */

/** Controls except the tab, line separators, bidi marks, letters that have no width or no ink, and halves of letters. */
const unsafe =
  /(?![\t ])(?:\p{Cc}|\p{Cf}|\p{Cs}|\p{Zs}|\p{Zl}|\p{Zp}|\p{Bidi_Control}|\p{Default_Ignorable_Code_Point}|\u2800)/gu;

const short: { readonly [letter: string]: string } = { "\n": "\\n", "\r": "\\r" };

const hex = (code: number): string => code.toString(16).padStart(4, "0");

const escapeOf = (letter: string): string =>
  short[letter] ?? Array.from({ length: letter.length }, (_, i) => `\\u${hex(letter.charCodeAt(i))}`).join("");

/** Escapes one line, or a part of it. */
export const escaped = (text: string, escape: (letter: string) => string = escapeOf): string =>
  text.replaceAll(unsafe, escape);

/** Escapes each line of a text and keeps its line breaks. */
export const escapedLines = (text: string): string =>
  text
    .split("\n")
    .map((line) => escaped(line))
    .join("\n");

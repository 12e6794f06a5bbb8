/** Escapes text from models, clients and files before it is printed, and keeps the colours that commands print. */
import { escaped } from "@pawl/tool-value";

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
  letter.length === 1 ? escaped(letter) : `\\U${(letter.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;

/** Quotes a word for a shell. Unsafe characters are escaped inside the quotes. */
export const shellWord = (word: string): string => {
  if (isPlain(word)) return word;
  if (escaped(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  return `$'${escaped(word.replaceAll("\\", "\\\\").replaceAll("'", "\\'"), escapeForShell)}'`;
};

/** Rewrites a program or a page of Markdown: every renaming of a release, one after the other, each on what the last one wrote. */
import { NotParsed, type Note, Source } from "./source.ts";

/** One renaming. It edits a file in place, and is called again on its own result: it has to leave that as it is. */
export interface Renaming {
  /** The change in one line, as `--list` prints it. */
  readonly title: string;
  readonly apply: (source: Source) => void;
}

export interface Rewritten {
  readonly text: string;
  readonly notes: readonly Note[];
}

const once = (file: string, text: string, { apply }: Renaming): Rewritten => {
  const source = new Source(file, text);
  apply(source);
  return { text: source.edits.toString(), notes: source.notes };
};

/** Rewrites one program. Throws `NotParsed` for a text that is none. */
const rewriteProgram = (file: string, text: string, renamings: readonly Renaming[]): Rewritten =>
  renamings.reduce<Rewritten>(
    (before, renaming) => {
      const after = once(file, before.text, renaming);
      return { text: after.text, notes: [...before.notes, ...after.notes] };
    },
    { text, notes: [] },
  );

const fence =
  /^(?<indent>[ \t]*)```(?<language>ts|tsx|js|jsx|typescript|javascript)\b[^\n]*\n(?<code>[\s\S]*?)^[ \t]*```/gm;
const extensions: { readonly [language: string]: string } = { typescript: "ts", javascript: "js" };

/** Rewrites the code blocks of a page. A block that is no whole program stays as it is, with a note. */
const rewriteMarkdown = (file: string, text: string, renamings: readonly Renaming[]): Rewritten => {
  const notes: Note[] = [];
  const rewritten = text.replace(fence, (block: string, ...[, language, code, at]: unknown[]) => {
    const written = String(code);
    const line = text.slice(0, Number(at)).split("\n").length;
    try {
      const name = `${file}.${extensions[String(language)] ?? String(language)}`;
      const after = rewriteProgram(name, written, renamings);
      notes.push(...after.notes.map((note) => ({ ...note, file, line: line + note.line })));
      return block.replace(written, () => after.text);
    } catch (thrown) {
      if (!(thrown instanceof NotParsed)) throw thrown;
      notes.push({ file, line, message: "this block is no whole program: rewrite it by hand" });
      return block;
    }
  });
  return { text: rewritten, notes };
};

/** Rewrites a file by its name: a page of Markdown, or a program. */
export const rewrite = (file: string, text: string, renamings: readonly Renaming[]): Rewritten =>
  /\.mdx?$/.test(file) ? rewriteMarkdown(file, text, renamings) : rewriteProgram(file, text, renamings);

/** Writes the page of the walks: stage by stage, which files a call goes through, what they are for, and which functions run. */
import { dirname } from "node:path";
import { format } from "oxfmt";
import { textOf } from "../../test/project.ts";
import type { Entered } from "./entry.ts";
import type { Stage, Walk } from "./world.ts";

const longest = 160;

/** Returns the first sentence of the comment that a file begins with; of a long one, the clause before its colon. */
const purposeOf = (file: string): string => {
  const [, header = ""] = /^\/\*\*(.*?)\*\//s.exec(textOf(file)) ?? [];
  const [paragraph = ""] = header
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .trim()
    .split(/\n\s*\n/);
  const [sentence] = /^.*?\.(?=\s|$)|^.*$/.exec(paragraph.replaceAll(/\s+/g, " ")) ?? [""];
  const clause = sentence.length > longest ? sentence.replace(/:(?=\s).*$/, "") : sentence;
  return clause.replace(/[:.]?$/, clause === "" ? "" : ".");
};

/** Names a file as its readers do: without `packages` and `src`. */
export const shortOf = (file: string): string => file.replace(/^packages\/(?<name>[^/]+)\/src\//, "$<name>/");
/** Names the room of a file: its package, and the folder below `src` that it is in. */
export const roomOf = (file: string): string => dirname(shortOf(file)).split("/").slice(0, 2).join("/");

const namesOf = (entered: readonly Entered[]): string => {
  const names = [...new Set(entered.map(({ name }) => name))].filter((name) => name !== "");
  return names.map((name) => `\`${name}\``).join(", ");
};

const byFile = (entered: readonly Entered[]): ReadonlyMap<string, readonly Entered[]> =>
  Map.groupBy(entered, ({ file }) => file);

const linked = (file: string): string => `[${shortOf(file)}](../${file})`;

const stageOf = ({ title, entered, written }: Stage, number: number, known: ReadonlySet<string>): string => {
  const files = [...byFile(entered)];
  const fresh = files.filter(([file]) => !known.has(file));
  const again = files.filter(([file, ones]) => known.has(file) && namesOf(ones) !== "");
  const events = [...new Set(written)].map((type) => `\`${type}\``).join(", ");
  return [
    `### ${number}. ${title}`,
    ...(events === "" ? [] : [`Written to the journal: ${events}.`]),
    fresh.map(([file, ones]) => `- **${linked(file)}** ${purposeOf(file)}\n  ${namesOf(ones)}`).join("\n"),
    ...(again.length === 0 ? [] : ["Further functions of files above:"]),
    again.map(([file, ones]) => `- ${shortOf(file)}: ${namesOf(ones)}`).join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
};

const walkOf = ({ title, about, bound, stages }: Walk): string => {
  const known = new Set<string>();
  const parts = stages.map((stage, i) => {
    const text = stageOf(stage, i + 1, known);
    for (const { file } of stage.entered) known.add(file);
    return text;
  });
  const rooms = new Set([...known].map(roomOf));
  const total = `It goes through ${known.size} files in ${rooms.size} rooms; ${bound} files is the most that it may.`;
  return [`## ${title}`, `${about} ${total}`, ...parts].join("\n\n");
};

const intro = `# A walk through the code

This page follows two calls through the code, from the request to the reply. It lists the files that run, in the order in which they are
entered first. Each comes with the first sentence of its header and with the functions that run there, in order as well. A file is listed
where the call meets it first; functions that it runs only later stand at the end of their stage.

\`pnpm walk\` writes this page from what V8 counts while the calls run, and \`test/walk.test.ts\` holds that it is current. Both calls are warm:
others of their kind ran before them in the same process. What is created or loaded once is not on the page.`;

/** Returns the page in Markdown, formatted as the project's files are. */
export const pageOf = async (walks: readonly Walk[]): Promise<string> => {
  const text = [intro, ...walks.map(walkOf)].join("\n\n");
  const { code, errors } = await format("walk.md", `${text}\n`, { printWidth: 120 });
  if (errors[0] !== undefined) throw new Error(`the page cannot be formatted: ${errors[0].message}`);
  return code;
};

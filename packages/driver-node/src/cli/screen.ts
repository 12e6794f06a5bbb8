/** A list on a terminal that is drawn again in its place whenever it has changed. */
import { stripVTControlCharacters } from "node:util";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** A line that would go on below is cut: its colours, too, end with it. */
const fitting = (line: string, columns: number): string => {
  const bare = stripVTControlCharacters(line);
  return bare.length <= columns ? line : `${bare.slice(0, columns - 1)}…`;
};

/** The last row is for the cursor. */
const shownOf = (lines: readonly string[], { columns, rows }: ScreenSize): readonly string[] => {
  const most = Math.max(2, rows - 1);
  const fit = lines.length <= most ? lines : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more`];
  return fit.map((line) => fitting(line, columns));
};

/** Draws over what it drew before; nothing, where that is what it would draw. */
export const screenOn = (
  write: (text: string) => void,
  size: () => ScreenSize,
): ((lines: readonly string[]) => void) => {
  let before: readonly string[] = [];
  return (lines) => {
    const shown = shownOf(lines, size());
    if (shown.join("\n") === before.join("\n")) return;
    const up = before.length === 0 ? "" : `\u001b[${before.length}A\u001b[J`;
    before = shown;
    write(`${up}${shown.join("\n")}\n`);
  };
};

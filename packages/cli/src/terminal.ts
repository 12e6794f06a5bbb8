/** Output of a command: text and colours for a person, JSON for a script. */
import { escaped, escapedLines, stringifyRecord } from "@pawl/tool-value";
import { stripVTControlCharacters, styleText } from "node:util";
import { escapedLine } from "./escape.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Cuts a line to the width of the terminal, together with its colours. */
const fitting = (line: string, columns: number): string => {
  const bare = stripVTControlCharacters(line);
  return bare.length <= columns ? line : `${bare.slice(0, columns - 1)}…`;
};

/** Keeps the last row for the cursor. */
const shownOf = (lines: readonly string[], { columns, rows }: ScreenSize): readonly string[] => {
  const most = Math.max(2, rows - 1);
  const fit = lines.length <= most ? lines : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more`];
  return fit.map((line) => fitting(line, columns));
};

/** Returns a function that redraws a list in place if it has changed. */
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

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export interface Terminal {
  readonly isJson: boolean;
  /** Prints a part of the result, as JSON or as lines of text. */
  readonly print: (json: unknown, words: () => readonly string[]) => void;
  /** Writes text as it is, such as a log. A terminal gets it escaped. */
  readonly write: (text: string) => void;
  /** Writes a line to standard error. */
  readonly note: (line: string) => void;
  /** Shows progress on a terminal; "" clears it. */
  readonly progress: (text: string) => void;
  /** Redraws lines in place; undefined if the output is not a terminal. */
  readonly redraw: ((lines: readonly string[]) => void) | undefined;
  readonly paint: (style: Style, text: string) => string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly now: () => number;
  /** Lines that a person types; undefined where there is no input. */
  readonly lines: AsyncIterable<string> | undefined;
  /** Ends commands that follow for ever. */
  readonly interrupted: AbortSignal;
}

const copyOf = (value: object): object =>
  Array.isArray(value) ? [...value] : Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));

/** Copies data without undefined fields. Values of logs may be nested deeper than the stack, so it does not recurse. */
const plain = (value: unknown): unknown => {
  const whole = { value };
  const open: { [key: string]: unknown }[] = [whole];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const [key, one] of Object.entries(at)) {
      if (typeof one !== "object" || one === null) continue;
      const copy = copyOf(one) as { [key: string]: unknown };
      at[key] = copy;
      open.push(copy);
    }
  return whole.value;
};

/** Prints JSON whose unsafe characters are escaped. */
export const jsonText = (value: unknown): string => escaped(stringifyRecord(plain(value)));

/** The streams and the environment of a terminal. */
export interface Streams {
  readonly out: {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
    write(text: string): unknown;
  };
  readonly err: { readonly isTTY?: boolean; write(text: string): unknown };
  /** Lines of the input, read when they are wanted. */
  readonly lines?: AsyncIterable<string>;
  readonly env: { readonly [name: string]: string | undefined };
  readonly now: () => number;
  readonly interrupted: AbortSignal;
}

const wantsColour = ({ isTTY }: { readonly isTTY?: boolean }, env: Streams["env"]): boolean => {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  if (env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "0") return true;
  return isTTY === true && env["TERM"] !== "dumb";
};

/** Reads the size at each use: the window may be resized. */
const sizeOf =
  (out: Streams["out"]): (() => ScreenSize) =>
  () => ({ columns: out.columns ?? 80, rows: out.rows ?? 24 });

const progressEveryMs = 100;

/** Rewrites one line of progress, at most every 100 ms. */
const progressOn = ({ err, now }: Streams): ((text: string) => void) => {
  if (err.isTTY !== true) return () => undefined;
  let shown = "";
  let at = 0;
  return (text) => {
    if (text !== "" && now() - at < progressEveryMs) return;
    if (text === "" && shown === "") return;
    at = now();
    shown = text;
    err.write(`\r\u001b[K${escaped(text)}`);
  };
};

export const terminalOn = (streams: Streams, isJson: boolean): Terminal => {
  const { out, err, env, now, interrupted } = streams;
  const isColour = wantsColour(out, env) && !isJson;
  const isBareBeside = !wantsColour(err, env);
  const progress = isJson ? () => undefined : progressOn(streams);
  const say = (text: string): void => {
    progress("");
    out.write(text);
  };
  const screen = out.isTTY === true && !isJson && env["TERM"] !== "dumb" ? screenOn(say, sizeOf(out)) : undefined;
  return {
    isJson,
    print: (json, words) => {
      if (isJson) return say(`${jsonText(json)}\n`);
      const lines = words();
      if (lines.length > 0) say(`${lines.map(escapedLine).join("\n")}\n`);
    },
    write: (text) => say(out.isTTY === true ? escapedLines(text) : text),
    note: (line) => {
      progress("");
      err.write(`${escapedLine(isBareBeside ? stripVTControlCharacters(line) : line)}\n`);
    },
    progress,
    redraw: screen && ((lines) => screen(lines.map(escapedLine))),
    paint: (style, text) => (isColour ? styleText(style, text, { validateStream: false }) : text),
    lines: streams.lines,
    env,
    now,
    interrupted,
  };
};

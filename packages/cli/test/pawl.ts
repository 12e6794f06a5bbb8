/** Runs the command line in tests: in this process for speed, or as a binary. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import type { Command, JsonDocument } from "../src/command.ts";
import { run } from "../src/run.ts";

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface With {
  readonly env?: { readonly [name: string]: string };
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly isErrTTY?: boolean;
  readonly now?: number;
  readonly interrupted?: AbortSignal;
  readonly onOut?: (text: string) => void;
  /** Lines of its input. */
  readonly lines?: AsyncIterable<string>;
}

/** Runs a command line in this process. */
export const pawl = async (args: readonly string[], how: With = {}): Promise<Said> => {
  let [out, err] = ["", ""];
  const {
    env = {},
    isTTY = false,
    isErrTTY = isTTY,
    columns = 80,
    now,
    interrupted = new AbortController().signal,
    onOut,
    lines,
  } = how;
  const code = await run(args, {
    out: {
      isTTY,
      columns,
      write: (text) => {
        out += text;
        onOut?.(text);
      },
    },
    err: { isTTY: isErrTTY, write: (text) => (err += text) },
    ...(lines === undefined ? {} : { lines }),
    env,
    now: () => now ?? Date.now(),
    interrupted,
  });
  return { code, out, err };
};

/** Parses the JSON lines of a command's output. */
export const jsonIn = ({ out }: Said): readonly { readonly [field: string]: unknown }[] =>
  out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly [field: string]: unknown });

/** Returns the description in the help that a JSON document matches. */
export const toldAs = ({ json }: Command, document: object): JsonDocument | undefined =>
  json.find(({ fields }) => {
    if (fields === undefined) return true;
    const named = fields.split(", ");
    const known = new Set(named.map((field) => field.replace("?", "")));
    const wanted = named.filter((field) => !field.endsWith("?"));
    return wanted.every((field) => field in document) && Object.keys(document).every((field) => known.has(field));
  });

const main = join(import.meta.dirname, "../src/main.ts");

const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;

/** Runs the binary in a process of its own. */
export const pawlProcess = (args: readonly string[], env: { readonly [name: string]: string } = {}): Promise<Said> =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...env } }, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });

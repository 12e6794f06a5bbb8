/** Options of a body in a worker thread, and their checks. */
import { Refused } from "@pawl/runtime";
import { unknownKeyIn } from "@pawl/runtime/driver";

export interface Bounds {
  /** The longest that a run of the body may take, with the loading of its module. */
  readonly timeMs: number;
  /** The most memory that it may take, its heap and its buffers together. */
  readonly memoryMb: number;
}

export interface Isolated extends Bounds {
  /** The module of the body, as a URL: `import.meta.resolve("./convert.js")`. */
  readonly module: string;
  /** The name under which the module exports it. */
  readonly body: string;
}

const known: Record<keyof Isolated, 1> = { module: 1, body: 1, timeMs: 1, memoryMb: 1 };

/** A thread needs some memory to begin with. */
const leastMb = 16;

const longestMs = 2 ** 31 - 1;

const refused = (message: string): Refused => new Refused("invalid_tool", `\`inWorker\`: ${message}`);

const isNumberIn = (found: unknown, least: number, most: number): boolean =>
  typeof found === "number" && found >= least && found <= most;

/** Returns the options as they were given, or throws `invalid_tool`. */
export const checkedIsolated = (given: Isolated): Isolated => {
  const unknown = unknownKeyIn("", given, known);
  if (unknown !== undefined) throw refused(unknown);
  const { module, body, timeMs, memoryMb } = given;
  if (!URL.canParse(module))
    throw refused(`expected the module as a URL, as \`import.meta.resolve\` gives it, found ${JSON.stringify(module)}`);
  if (typeof body !== "string" || body === "")
    throw refused(`expected the name of the body's export, found ${JSON.stringify(body)}`);
  if (!isNumberIn(timeMs, 1, longestMs)) throw refused(`expected \`timeMs\` from 1 to ${longestMs}, found ${timeMs}`);
  if (!isNumberIn(memoryMb, leastMb, 65_536))
    throw refused(`expected \`memoryMb\` from ${leastMb} to 65536, found ${memoryMb}`);
  return given;
};

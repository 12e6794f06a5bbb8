/** Limits of tools: how many calls of a queue run at a time, over all hosts of a store, and how many begin in a second. */
import { shownOf, unknownKeyIn } from "../error.ts";
import type { Limit } from "../journal/queue.ts";
import type { ToolDescription } from "./definition.ts";

/** A limit of a tool: `concurrency`, `perSecond`, or both. */
export interface ToolLimit<A = unknown> extends Limit {
  /** The queue in which its calls wait, by the priorities of their requests. Tools may share one. Default: the tool's name. */
  readonly queue?: string;
  /** Names the line within the queue that a call stands in, such as a customer. Each line has the whole limit. */
  readonly by?: (args: A) => string;
}

const fields = { concurrency: 1, perSecond: 1, queue: 1, by: 1 };

const problemOfField = (field: string, found: unknown): string | undefined => {
  switch (field) {
    case "concurrency":
      return Number.isSafeInteger(found) && Number(found) >= 1 ? undefined : "1 or more";
    case "perSecond":
      return Number.isFinite(found) && Number(found) > 0 ? undefined : "a number above 0";
    case "queue":
      return typeof found === "string" && found !== "" ? undefined : "a name";
    default:
      return typeof found === "function" ? undefined : "a function of the arguments";
  }
};

/** Returns what is wrong with the limit of a tool, in the words of its author. */
export const problemOfLimit = ({ name, limit }: ToolDescription): string | undefined => {
  if (limit === undefined) return undefined;
  if (typeof limit !== "object" || limit === null)
    return `\`limit\` of tool \`${name}\`: expected { concurrency, perSecond, queue, by }, found ${shownOf(limit)}`;
  const unknownKey = unknownKeyIn("limit.", limit, fields);
  if (unknownKey !== undefined) return `tool \`${name}\`: ${unknownKey}`;
  for (const [field, found] of Object.entries(limit)) {
    const wanted = found === undefined ? undefined : problemOfField(field, found);
    if (wanted !== undefined)
      return `\`limit.${field}\` of tool \`${name}\`: expected ${wanted}, found ${shownOf(found)}`;
  }
  if (limit.concurrency !== undefined || limit.perSecond !== undefined) return undefined;
  return `\`limit\` of tool \`${name}\` limits nothing: give it \`concurrency\`, \`perSecond\` or both`;
};

/** Returns the queue of a tool, if it has a limit. */
export const queueOfTool = ({ name, limit }: ToolDescription): string | undefined => limit && (limit.queue ?? name);

/** The line of a queue that a call stands in, with its limit. */
export interface Line extends Limit {
  readonly queue: string;
}

/** Returns the line that a call stands in, which the store knows by its name alone, and its limit. */
export const lineOf = (description: ToolDescription, args: unknown): Line => {
  const { concurrency, perSecond, by } = description.limit ?? {};
  const queue = queueOfTool(description) ?? description.name;
  return {
    queue: by === undefined ? queue : `${queue}/${by(args)}`,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(perSecond === undefined ? {} : { perSecond }),
  };
};

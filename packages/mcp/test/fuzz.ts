/**
 * Mutated messages of JSON-RPC, from a seed: valid requests with parts taken away, doubled, or exchanged for what no client
 * would send. A server answers each of them with a response, and goes on.
 */
import type { ServedMcp } from "../src/index.ts";
import { requestOf, withTasks } from "./open.ts";

/** A small generator of numbers, the same for equal seeds (mulberry32). */
const randomOf = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

type Random = () => number;

const pick = <A>(random: Random, list: readonly A[]): A => list[Math.floor(random() * list.length)] as A;

const strange: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "\u0000\uD800",
  "x".repeat(5000),
  [],
  {},
  [[[[]]]],
  { __proto__: null, constructor: 1 },
  { toString: 1, hasOwnProperty: 1 },
  "__proto__",
  "tasks/get",
  2 ** 60,
];

const methods = [
  "tools/list",
  "tools/call",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "tasks/result",
  "server/discover",
  "subscriptions/listen",
  "resources/read",
  "initialize",
  "ping",
  "notifications/cancelled",
];

const paramsOf = (random: Random, taskIds: readonly string[]): object => ({
  name: pick(random, ["echo", "ask", "none", ""]),
  arguments: { text: "hi" },
  taskId: pick(random, taskIds),
  inputResponses: { name: { action: pick(random, ["accept", "decline", "x"]), content: { name: "Ann" } } },
  requestState: random() < 0.1 ? pick(random, taskIds) : undefined,
  uri: pick(random, ["pawl-attachment:x", "file:///etc/passwd", "::"]),
  notifications: { toolsListChanged: true },
});

/** Exchanges parts of a value, wherever they are. */
const mutated = (random: Random, value: unknown, depth = 0): unknown => {
  if (random() < 0.06) return pick(random, strange);
  if (depth > 6 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => mutated(random, one, depth + 1));
  const entries = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
    if (random() < 0.03) return [];
    const kept: [string, unknown] = [
      random() < 0.02 ? JSON.stringify(pick(random, strange)) : key,
      mutated(random, one, depth + 1),
    ];
    return [kept];
  });
  return Object.fromEntries(entries);
};

/** Breaks a text: cuts it, doubles a part, or puts something in. */
const broken = (random: Random, text: string): string => {
  const at = Math.floor(random() * text.length);
  return pick(random, [
    text.slice(0, at),
    text.slice(0, at) + text.slice(at - 10),
    `${text.slice(0, at)}\u0000${text.slice(at)}`,
    `[${text}]`,
    "",
  ]);
};

const headersOf = (random: Random, request: Request): Headers => {
  const headers = new Headers(request.headers);
  if (random() < 0.1)
    headers.delete(pick(random, ["mcp-method", "mcp-name", "mcp-protocol-version", "content-type", "accept"]));
  if (random() < 0.05) headers.set("mcp-protocol-version", pick(random, ["2025-11-25", "1999-01-01", ""]));
  return headers;
};

const isText = (name: string | undefined): boolean => name !== undefined && /^[\u0020-\u007E]*$/.test(name);

const requestFrom = async (random: Random, taskIds: readonly string[]): Promise<Request> => {
  const method = pick(random, methods);
  const params = paramsOf(random, taskIds) as { readonly name?: string };
  const named = isText(params.name) ? params : { ...params, name: "echo" };
  const valid = requestOf(method, named, { capabilities: pick(random, [withTasks, { elicitation: {} }, {}]) });
  const text = await valid.clone().text();
  const json = JSON.stringify(mutated(random, JSON.parse(text)));
  const body = random() < 0.1 ? broken(random, json) : json;
  return new Request(valid.url, {
    method: pick(random, ["POST", "POST", "POST", "POST", "PUT"]),
    headers: headersOf(random, valid),
    body,
  });
};

export interface FuzzReport {
  readonly messages: number;
  /** Answers by their status. */
  readonly statuses: { readonly [status: number]: number };
  /** Messages that the handler threw at, or answered with an error of its own. */
  readonly wrong: readonly string[];
}

/** Reads an answer, but of a stream that goes on only its beginning. */
const drained = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
};

/** Sends so many mutated messages to a server. */
export const fuzz = async (
  { fetch }: Pick<ServedMcp, "fetch">,
  seed: number,
  messages: number,
  taskIds: readonly string[],
): Promise<FuzzReport> => {
  const random = randomOf(seed);
  const statuses: { [status: number]: number } = {};
  const wrong: string[] = [];
  for (let n = 0; n < messages; n++) {
    const request = await requestFrom(random, taskIds);
    const text = await request.clone().text();
    try {
      const response = await fetch(request);
      const said = await drained(response);
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      if (response.status >= 500 || said.includes("its log says why"))
        wrong.push(`${response.status} ${said} for ${text.slice(0, 500)}`);
    } catch (thrown) {
      wrong.push(`${String(thrown)} for ${text.slice(0, 500)}`);
    }
  }
  return { messages, statuses, wrong };
};

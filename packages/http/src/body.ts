/** Bodies of requests, read within bounds, and bodies of answers. */
import { Refused } from "@pawl/runtime";
import { type Codec, type Json, defaultLimits, describe, parse, readOwned, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** Reads a body as text. Stops as soon as it has more than `maxBytes`. */
const textOf = async ({ body, headers }: Request, maxBytes: number): Promise<string> => {
  const tooLarge = (found: string): Refused =>
    new Refused("too_large", `a body has at most ${maxBytes} bytes, found ${found}`);
  const said = Number(headers.get("content-length") ?? 0);
  if (said > maxBytes) throw tooLarge(String(said));
  if (body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = body.getReader();
  let text = "";
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const chunk = next.value as Uint8Array;
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge("more"); // The rest is left unread: the server ends the connection.
    text += decoded(decoder, chunk);
  }
  return text + decoded(decoder);
};

const decoded = (decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string => {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new Refused("invalid_json", "the body: expected JSON in UTF-8, found bytes that are no UTF-8");
  }
};

const isJson = (type: string): boolean => /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(type.trim());

/** Reads a body as JSON. An empty one is `null`. */
export const jsonOf = async (request: Request, maxBytes: number): Promise<Json> => {
  const type = request.headers.get("content-type");
  if (type !== null && !isJson(type))
    throw new Refused("not_json", `expected a body of type application/json, found ${type}`);
  const text = await textOf(request, maxBytes);
  if (text.trim() === "") return null;
  const json = parse(text, { ...defaultLimits, size: maxBytes });
  if (E.isLeft(json)) throw new Refused("invalid_json", `the body: ${describe(json.left)}`);
  return json.right;
};

/** Reads a body that a codec describes. */
export const recordOf = async <A>(request: Request, codec: Codec<A>, maxBytes: number): Promise<A> => {
  const found = readOwned(codec, await jsonOf(request, maxBytes));
  if (E.isLeft(found)) throw new Refused("invalid_argument", `the body: ${describe(found.left)}`);
  return found.right;
};

/** Answers with a record, as its codec writes it. */
export const answered = <A>(
  codec: Codec<A>,
  value: A,
  status = 200,
  headers: { readonly [name: string]: string } = {},
): Response =>
  new Response(stringifyRecord(codec.encode(value)), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

export const nothing = (): Response => new Response(null, { status: 204 });

/** Longest time that an answer is waited for; whoever wants to wait longer asks again. */
export const longestWaitS = 300;

/** Reads `Prefer: wait=30` (RFC 7240), in seconds. */
export const wantedWait = (headers: Headers): number => {
  const found = /(?:^|[,;\s])wait\s*=\s*"?(?<seconds>\d{1,9})/i.exec(headers.get("prefer") ?? "");
  return Math.min(Number(found?.groups?.["seconds"] ?? 0), longestWaitS);
};

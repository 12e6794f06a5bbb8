/** Routes as data: the handler finds the route of a request among them, and the OpenAPI document is written from them. */
import { Refused, type Runtime } from "@pawl/runtime";
import type { AnyCodec, Codec } from "@pawl/tool-value";
import type { QuestionType } from "@pawl/wire/frame";
import { type Claims, rights } from "@pawl/wire/host";
import type { ServerEvent } from "../event-stream.ts";

export interface Query {
  readonly [name: string]: { readonly what: string; readonly type: "integer" | "string"; readonly required?: true };
}

/** A question to a route, once the token was checked. */
export interface Asked<Body = unknown> {
  readonly runtime: Runtime;
  readonly request: Request;
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  readonly body: Body;
  /** Undefined on a route that takes no token, where none was sent. */
  readonly claims: Claims | undefined;
  /** Aborts when the client has left, its token has expired, or the host closes. */
  readonly gone: AbortSignal;
  /** The part of paths before `/v1`. */
  readonly base: string;
  /** Answers with server-sent events. */
  readonly stream: (items: AsyncIterator<ServerEvent>) => Promise<Response>;
}

/** A question to a route, without its body. */
export type Caller = Omit<Asked, "body">;

export interface Answer {
  readonly what: string;
  readonly body?: AnyCodec;
}

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Names in braces stand for one percent-encoded part each. */
  readonly path: string;
  /** The operation's name in clients that are generated. */
  readonly name: string;
  readonly what: string;
  /** The question of the host protocol that this is; it takes the same right. Absent where no token is needed. */
  readonly asks?: QuestionType;
  readonly query?: Query;
  readonly headers?: Query;
  /** The body that is read; `json` is any JSON. */
  readonly body?: AnyCodec;
  readonly answers: { readonly [status: number]: Answer };
  /** Set where the answer is a stream of server-sent events, with what their data is. */
  readonly events?: AnyCodec;
  readonly act: (asked: Asked<never>) => Promise<Response>;
}

/** Defines a route; its body has the type that its codec reads. */
export const route = <Body = undefined>(
  given: Omit<Route, "act" | "body"> & {
    readonly body?: Codec<Body>;
    readonly act: (asked: Asked<Body>) => Promise<Response>;
  },
): Route => given as unknown as Route;

/** Names the scope of the session in the path. */
export const scopeIn = ({ params }: Pick<Asked, "params">): string => `session:${params["session"] ?? ""}`;

export const rightOf = ({ asks }: Route) => (asks === undefined ? undefined : rights[asks]);

/** Returns who asks. Routes that take a token have one. */
export const principal = ({ claims }: Pick<Asked, "claims">): string => claims?.by ?? "";

const decodedPart = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refused("invalid_argument", `the path: \`${text}\` is not percent-encoded: write % as %25`);
  }
};

const segmentsOf = (path: string): readonly string[] => path.split("/").slice(1);

/** Matches a path against a route's; returns the parts in braces, as they stand in the path. */
const partsOf = ({ path }: Route, segments: readonly string[]): ReadonlyMap<string, string> | undefined => {
  const wanted = segmentsOf(path);
  if (wanted.length !== segments.length) return undefined;
  const parts = new Map<string, string>();
  for (const [i, part] of wanted.entries()) {
    const found = segments[i] as string;
    if (!part.startsWith("{")) {
      if (part !== found) return undefined;
    } else if (found === "") return undefined;
    else parts.set(part.slice(1, -1), found);
  }
  return parts;
};

export interface Found {
  readonly route: Route;
  readonly params: Asked["params"];
}

/** Finds the route of a request. Says which methods there are where only the method is wrong. */
export const routeOf = (
  routes: readonly Route[],
  method: string,
  path: string,
): Found | { readonly allow: string[] } => {
  const segments = segmentsOf(path);
  const allow: string[] = [];
  for (const known of routes) {
    const parts = partsOf(known, segments);
    if (parts === undefined) continue;
    if (known.method === method)
      return { route: known, params: Object.fromEntries([...parts].map(([name, part]) => [name, decodedPart(part)])) };
    allow.push(known.method);
  }
  return { allow };
};

/** Reads a whole number from the query. */
export const countIn = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  const count = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(count) && count >= 0) return count;
  throw new Refused("invalid_argument", `${name}: expected a whole number from 0, found \`${text}\``);
};

/** Headers of answers that may be waited for. */
export const whenNew = {
  prefer: { type: "string", what: "`wait=25` with `If-None-Match`: answers as soon as there is something else" },
  "if-none-match": { type: "string", what: "The `ETag` of what the reader has" },
} as const satisfies Query;

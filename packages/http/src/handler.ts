/**
 * The handler: one function from a web request to a web response, for whatever serves HTTP. For each request:
 *
 *    origin ─▶ route ─▶ bounds ─▶ token ─▶ right ─▶ body ─▶ act ─▶ answer, problem, or stream
 *
 * Everything here is a question of the host protocol in another form: the same rights, the same answers, the same errors.
 * Nothing lives in a connection: whoever lost an answer asks again, and joins.
 */
import { type Log, Refused, type Runtime } from "@pawl/runtime";
import { healthAnswer } from "@pawl/runtime/driver";
import { type Claims, type Secrets, checkSecrets, claimsOf, hostErrorOf, missingRight } from "@pawl/wire/host";
import * as E from "fp-ts/lib/Either.js";
import { recordOf } from "./body.ts";
import { isAllowed, preflight, withCors } from "./cors.ts";
import { tokenIn } from "./credential.ts";
import { eventStream } from "./event-stream.ts";
import { problemResponse, problemText } from "./problem.ts";
import { type Asked, type Found, rightOf, routeOf, scopeIn } from "./route/route.ts";
import { routes } from "./route/index.ts";

export interface HttpLimits {
  /** The size of a body in bytes. */
  readonly maxBodyBytes: number;
  /** Requests that are under way at a time, streams among them; more are refused with 503. */
  readonly maxRequests: number;
  /** The interval of comments in streams, so that proxies leave them open. */
  readonly keepAliveMs: number;
}

export interface HttpOptions {
  readonly runtime: Runtime;
  /** Secrets that sign tokens, newest first. All of them verify. */
  readonly secrets: Secrets;
  /** Origins of pages that may ask, besides the host's own. Programs that are not browsers send none. */
  readonly origins?: readonly string[];
  /** The part of paths before `/v1`: `/api/pawl`, say. */
  readonly base?: string;
  readonly limits?: Partial<HttpLimits>;
  /** Ends all streams, and whoever waits for replies, when it aborts. */
  readonly signal?: AbortSignal;
  /** Gets errors of the handler itself. */
  readonly log: Log;
}

export type HttpHandler = (request: Request) => Promise<Response>;

/** Limits of a handler that names none of its own. */
export const defaultHttpLimits: HttpLimits = {
  maxBodyBytes: 4 * 1024 * 1024,
  maxRequests: 10_000,
  keepAliveMs: 15_000,
};

const checkedLimits = (given: Partial<HttpLimits> = {}): HttpLimits => {
  const limits = { ...defaultHttpLimits, ...given };
  for (const [name, value] of Object.entries(limits))
    if (!(value >= 1)) throw new RangeError(`limits.${name} must be a number from 1, found ${String(value)}`);
  return limits;
};

const refusal = (code: string, message: string): Refused => new Refused(code, message);

/** Checks the token that a request brings. Returns undefined where none came, and none is needed. */
const claimsIn = (request: Request, secrets: Secrets, { route, params }: Found): Claims | undefined => {
  const token = tokenIn(request);
  const right = rightOf(route);
  if (token === undefined) {
    if (right === undefined) return undefined;
    throw refusal("unauthorized", "found no token: send `Authorization: Bearer {token}`");
  }
  const claims = claimsOf(secrets, token, Date.now());
  if (E.isLeft(claims)) throw refusal("unauthorized", claims.left);
  if (right === undefined) return claims.right;
  const missing = missingRight(claims.right, right, "session" in params ? scopeIn({ params }) : undefined);
  if (missing !== undefined) throw refusal("permission_denied", missing);
  return claims.right;
};

/** Longest time that a timer can have. */
const longestTimerMs = 2 ** 31 - 1;

/** The time for which a request may go on: until its client leaves, its token expires, or the host closes. */
class Lifetime {
  readonly #over = new AbortController();
  readonly #signals: readonly AbortSignal[];
  #expiry: ReturnType<typeof setTimeout> | undefined;
  readonly #end = (): void => this.#over.abort();

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    this.#signals = signals.filter((signal) => signal !== undefined);
    for (const signal of this.#signals) {
      signal.addEventListener("abort", this.#end, { once: true });
      if (signal.aborted) this.#end();
    }
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  until(expiresAt: number): void {
    this.#expiry = setTimeout(this.#end, Math.min(expiresAt - Date.now(), longestTimerMs));
  }

  leave(): void {
    clearTimeout(this.#expiry);
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#end);
  }
}

const unknownRoute = (allow: readonly string[], method: string, path: string): Response =>
  allow.length === 0
    ? problemResponse({
        code: "route_unknown",
        message: `there is nothing at ${path}: /v1/openapi.json lists what there is`,
      })
    : problemResponse(
        { code: "method_unknown", message: `${path}: expected ${allow.join(" or ")}, found ${method}` },
        undefined,
        {
          allow: allow.join(", "),
        },
      );

/** Answers web requests over a runtime, until its signal aborts. */
class Handling {
  readonly #options: HttpOptions;
  readonly #limits: HttpLimits;
  readonly #base: string;
  readonly #origins: readonly string[];
  #underWay = 0;

  constructor(options: HttpOptions) {
    checkSecrets(options.secrets);
    const { base = "", origins = [] } = options;
    if (base !== "" && !/^\/.*[^/]$/.test(base))
      throw new RangeError(`base: expected a path that begins with / and does not end with it, found ${base}`);
    this.#options = options;
    this.#limits = checkedLimits(options.limits);
    this.#base = base;
    this.#origins = origins;
  }

  async handle(request: Request): Promise<Response> {
    const response = isAllowed(request, this.#origins)
      ? (preflight(request) ?? (await this.#routed(request)))
      : this.#failed(
          refusal("permission_denied", "pages of this origin may not ask: the host lists the origins that may"),
        );
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
    return withCors(response, request, this.#origins);
  }

  async #routed(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    try {
      const path = pathname.startsWith(`${this.#base}/`) ? pathname.slice(this.#base.length) : "";
      const health = healthAnswer(request.method, path, this.#options.runtime);
      if (health !== undefined) return new Response(health.body, health);
      const found = routeOf(routes, request.method, path);
      if ("allow" in found) return unknownRoute(found.allow, request.method, pathname);
      if (this.#underWay >= this.#limits.maxRequests)
        throw refusal("too_many_in_flight", `${this.#underWay} requests are under way here: ask again`);
      return await this.#within(request, found);
    } catch (thrown) {
      return this.#failed(thrown, request);
    }
  }

  /** Counts a request while it is under way; a stream is under way until it ends. */
  async #within(request: Request, found: Found): Promise<Response> {
    const life = new Lifetime(request.signal, this.#options.signal);
    let isStream = false;
    const ended = (): void => {
      life.leave();
      this.#underWay -= 1;
    };
    this.#underWay += 1;
    const stream: Asked["stream"] = async (items) => {
      const { keepAliveMs } = this.#limits;
      const problem = (thrown: unknown): string => problemText(hostErrorOf(thrown, this.#options.log));
      const response = await eventStream(items, { over: life.signal, keepAliveMs, problem, ended });
      isStream = true;
      return response;
    };
    try {
      return await this.#acted(request, found, life, stream);
    } finally {
      if (!isStream) ended();
    }
  }

  async #acted(request: Request, found: Found, life: Lifetime, stream: Asked["stream"]): Promise<Response> {
    const { runtime, secrets } = this.#options;
    const { route, params } = found;
    const claims = claimsIn(request, secrets, found);
    if (claims !== undefined) life.until(claims.expires_at);
    const body: unknown = route.body && (await recordOf(request, route.body, this.#limits.maxBodyBytes));
    const query = new URL(request.url).searchParams;
    const asked: Asked = { runtime, request, params, query, body, claims, gone: life.signal, base: this.#base, stream };
    return route.act(asked as Asked<never>);
  }

  #failed(thrown: unknown, request?: Request): Response {
    const failure = hostErrorOf(thrown, this.#options.log);
    return problemResponse(failure, request, failure.code === "unauthorized" ? { "www-authenticate": "Bearer" } : {});
  }
}

/** Makes the handler of web requests over a runtime: `(request) => Promise<Response>`. */
export const httpHandler = (options: HttpOptions): HttpHandler => {
  const handling = new Handling(options);
  return (request) => handling.handle(request);
};

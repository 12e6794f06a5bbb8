/** Origins: pages of the host's own origin and of those that are allowed may ask; programs send no origin, and may ask too. */

/** Time for which a browser may cache a preflight's answer. */
const rememberedS = 600;

const asked = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "authorization, content-type, idempotency-key, if-none-match, last-event-id, prefer, traceparent",
  "access-control-max-age": String(rememberedS),
} as const;

const exposed = "etag, location, preference-applied, retry-after";

/** Tells whether a page may ask: it is the host's own, or its origin is allowed. */
export const isAllowed = (request: Request, origins: readonly string[]): boolean => {
  const origin = request.headers.get("origin");
  if (origin === null || origins.includes(origin)) return true;
  return URL.parse(origin)?.host === new URL(request.url).host;
};

/** Adds the headers without which a browser hides an answer from a page of another origin. */
export const withCors = (response: Response, request: Request, origins: readonly string[]): Response => {
  const origin = request.headers.get("origin");
  response.headers.set("vary", "Origin");
  if (origin === null || !isAllowed(request, origins)) return response;
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", exposed);
  return response;
};

/** Answers a preflight, which has no token; undefined where the request is none. */
export const preflight = (request: Request): Response | undefined =>
  request.method === "OPTIONS" && request.headers.has("access-control-request-method")
    ? new Response(null, { status: 204, headers: asked })
    : undefined;

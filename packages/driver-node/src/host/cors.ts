/** Addresses and origins: CORS for flows over HTTP, where the origins that may use WebSocket may use HTTP. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Tells whether a URL is a WebSocket address. */
export const isSocketUrl = (text: string): boolean => /^wss?:$/.test(URL.parse(text)?.protocol ?? "");

/** Time for which a browser may cache a preflight's answer. */
const remembersS = 600;

const asked = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "authorization, content-type, idempotency-key, x-session",
  "access-control-max-age": String(remembersS),
} as const;

/** Returns the CORS headers of a response. Without them a browser hides it from the page. */
export const corsHeaders = (
  { headers: { origin } }: IncomingMessage,
  isAllowedOrigin: (origin: string | undefined) => boolean,
): { readonly [header: string]: string } =>
  origin === undefined || !isAllowedOrigin(origin)
    ? { vary: "Origin" }
    : { vary: "Origin", "access-control-allow-origin": origin, "access-control-expose-headers": "x-request-id" };

/** Answers a preflight request, which carries no token. Returns whether it was one. */
export const answerPreflight = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isAllowedOrigin: (origin: string | undefined) => boolean,
): boolean => {
  const { method, headers } = incoming;
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
  const isIn = isAllowedOrigin(headers.origin);
  outgoing.writeHead(isIn ? 204 : 403, { ...corsHeaders(incoming, isAllowedOrigin), ...(isIn ? asked : {}) }).end();
  return true;
};

/** Pages of other origins that ask over HTTP: the same are welcome as over WebSocket, and browsers ask first. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** How long a browser need not ask again. */
const remembersS = 600;

const asked = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "authorization, content-type, idempotency-key, x-session",
  "access-control-max-age": String(remembersS),
} as const;

/** What an answer to a welcome page has beside its own; the others' browsers do not show it to them. */
export const corsHeaders = (
  { headers: { origin } }: IncomingMessage,
  isAllowedOrigin: (origin: string | undefined) => boolean,
): { readonly [header: string]: string } =>
  origin === undefined || !isAllowedOrigin(origin)
    ? { vary: "Origin" }
    : { vary: "Origin", "access-control-allow-origin": origin, "access-control-expose-headers": "x-request-id" };

/** Whether a request was a browser's question, which has been answered: it brings no token. */
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

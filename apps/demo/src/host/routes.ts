/** The route of the demo's server besides the files: a token for the host. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Json, stringify } from "@pawl/tool-value";

export interface Routes {
  readonly token: () => string;
  readonly origin: () => string;
}

const answer = (response: ServerResponse, status: number, json?: Json): void => {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  response.end(json === undefined ? undefined : stringify(json));
};

/** Answers a request for the token; returns false for any other. Pages of other origins are refused. */
export const serveRoutes = (request: IncomingMessage, response: ServerResponse, of: Routes): boolean => {
  const { method = "GET", url = "/", headers } = request;
  if (method !== "GET" || new URL(url, "http://localhost").pathname !== "/host.json") return false;
  const site = headers["sec-fetch-site"];
  const isForeign =
    (headers.origin !== undefined && headers.origin !== of.origin()) ||
    (site !== undefined && site !== "same-origin" && site !== "none") ||
    headers.host !== new URL(of.origin()).host;
  if (isForeign) answer(response, 403);
  else answer(response, 200, { token: of.token() });
  return true;
};

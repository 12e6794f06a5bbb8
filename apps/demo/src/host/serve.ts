/** The HTTP side of the demo: the files of the page, from memory, and the token for the host. */
import { readFileSync, readdirSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { type Json, stringify } from "@pawl/tool-value";

const types: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Forbids foreign and inline content and `eval`. Connections are open: the user chooses the model's endpoint. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self' ws: http: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface ServedFile {
  readonly type: string;
  readonly body: Buffer;
}

const fileHeaders = {
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
};

/** Serves the files as they were at the start. Nothing else on the disk is reachable. */
export const serveFiles = (folder: string): ((request: IncomingMessage, response: ServerResponse) => void) => {
  const files = new Map<string, ServedFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const url = path.slice(folder.length).replaceAll("\\", "/");
    files.set(url, { type: types[extname(path)] ?? "application/octet-stream", body: readFileSync(path) });
  }
  return ({ method, url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const file = files.get(pathname === "/" ? "/index.html" : pathname);
    if (file === undefined || (method !== "GET" && method !== "HEAD")) {
      response.writeHead(file === undefined ? 404 : 405, fileHeaders).end();
      return;
    }
    response.writeHead(200, { ...fileHeaders, "Content-Type": file.type, "Content-Length": file.body.length });
    response.end(method === "HEAD" ? undefined : file.body);
  };
};

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

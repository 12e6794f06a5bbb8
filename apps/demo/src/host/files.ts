/** Serves the files of the page from memory, as they were at the start. Nothing else on the disk is reachable. */
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";

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

const headers = { "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache" };

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
      response.writeHead(file === undefined ? 404 : 405, headers).end();
      return;
    }
    response.writeHead(200, { ...headers, "Content-Type": file.type, "Content-Length": file.body.length });
    response.end(method === "HEAD" ? undefined : file.body);
  };
};

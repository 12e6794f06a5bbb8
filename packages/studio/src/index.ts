/** `@pawl/studio`: the page on which people see what runs at a host, and decide what waits for them. */
import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { document, mark } from "./document.ts";
import { style } from "./style.ts";

const folder = new URL("page/", import.meta.url);

const types: { readonly [ending: string]: string } = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** The policy of the page: nothing of others, no script and no style but its own files, in nobody's frame. */
const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
} as const;

/** Reads a module: as it was built, or from the sources, whose types go and whose imports name what a browser asks for. */
const moduleOf = (name: string): string => {
  const source = new URL(name.replace(/\.js$/, ".ts"), folder);
  if (!existsSync(source)) return readFileSync(new URL(name, folder), "utf8");
  return stripTypeScriptTypes(readFileSync(source, "utf8")).replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"');
};

const texts: { readonly [name: string]: string } = { "index.html": document, "style.css": style, "mark.svg": mark };
const modules = ["main", "api", "dom", "form", "inbox", "page", "runs", "session"].map((name) => `${name}.js`);

const fileOf = (name: string): string | undefined => {
  if (Object.hasOwn(texts, name)) return texts[name];
  return modules.includes(name) ? moduleOf(name) : undefined;
};

/** Where the page is, below the address of its host. */
export const studioPath = "/studio/";

/** Tells whether a request is for the page. */
export const isStudioPath = (path: string): boolean => path === "/studio" || path.startsWith(studioPath);

const redirect = (): Response => new Response(null, { status: 308, headers: { location: studioPath } });

/** Answers requests for the page and its files. It holds nothing: what it shows it asks of `@pawl/http`, with its reader's rights. */
export const studioHandler = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url);
  if (pathname === "/studio") return redirect();
  if (request.method !== "GET" && request.method !== "HEAD")
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
  const name = pathname.slice(studioPath.length) || "index.html";
  const text = pathname.startsWith(studioPath) ? fileOf(name) : undefined;
  if (text === undefined) return new Response("there is no such file\n", { status: 404, headers });
  const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "text/plain";
  return new Response(text, { headers: { ...headers, "content-type": type } });
};

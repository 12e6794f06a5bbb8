/** A page with an inspector, as a host would embed it: bundled, and served under a strict policy. */
import type { BrowserContext, Page } from "playwright-core";
import { build } from "rolldown";
import { pathOf } from "../../../test/project.ts";

const origin = "http://localhost:1";
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'";

const bundleOf = async (file: string): Promise<string> => {
  const { output } = await build({
    input: pathOf(file),
    platform: "browser",
    output: { format: "esm", codeSplitting: false },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
};

export interface Bundle {
  readonly page: string;
  readonly worker: string;
}

export const bundle = async (): Promise<Bundle> => {
  const [page, worker] = await Promise.all(
    ["packages/inspector/page/inspect.ts", "packages/inspector/src/worker/worker.ts"].map(bundleOf),
  );
  return { page: page as string, worker: worker as string };
};

const html = `<!doctype html><html lang="en"><title>Inspector</title><link rel="stylesheet" href="/page.css">
<main><h1>Inspector</h1><pawl-inspector></pawl-inspector></main><script type="module" src="/page.js"></script></html>`;
const css = "body { margin: 0 } h1 { position: absolute; left: -9999px } pawl-inspector { height: 100vh }";

/** Opens the page; its console errors go to `complaints`. */
export const openPage = async (
  context: BrowserContext,
  { page: code, worker }: Bundle,
  complaints: string[],
): Promise<Page> => {
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
  const files: { readonly [path: string]: readonly [type: string, body: string] } = {
    "/": ["text/html", html],
    "/page.css": ["text/css", css],
    "/page.js": ["text/javascript", code],
    "/worker.js": ["text/javascript", worker],
  };
  await page.route(`${origin}/**`, (route) => {
    const [contentType, body] = files[new URL(route.request().url()).pathname] ?? ["text/plain", ""];
    return route.fulfill({ contentType, body, headers: { "Content-Security-Policy": policy } });
  });
  await page.goto(`${origin}/`);
  await page.waitForFunction("globalThis.inspect !== undefined");
  return page;
};

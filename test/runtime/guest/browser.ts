/** Browsers: each is started on a page of a server of the test, takes its job from there and brings the answer back. */
import { type IncomingMessage, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { firstLine, inFolder, kill, over, start } from "./child.ts";
import type { Guest, Job } from "./job.ts";

const page = (call: string): string => `<!doctype html>
<link rel="icon" href="data:," />
<script>
  const bring = (to) => (what) => fetch(to, { method: "POST", body: what });
  addEventListener("error", ({ message }) => bring("/failure")(message));
</script>
<script src="/suite.js"></script>
<script>
  fetch("/argument")
    .then((got) => got.json())
    .then((argument) => suite[${JSON.stringify(call)}](argument))
    .then((answer) => bring("/answer")(JSON.stringify(answer)))
    .catch((thrown) => bring("/failure")(String(thrown)));
</script>
`;

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

interface Served {
  readonly server: Server;
  readonly url: string;
  readonly answer: Promise<unknown>;
}

const serve = async ({ code, call, argument }: Job): Promise<Served> => {
  const files: { readonly [path: string]: readonly [type: string, body: string] } = {
    "/": ["text/html; charset=utf-8", page(call)],
    "/suite.js": ["text/javascript; charset=utf-8", code],
    "/argument": ["application/json", JSON.stringify(argument)],
  };
  const { promise: answer, resolve, reject } = Promise.withResolvers<unknown>();
  const taken = async (request: IncomingMessage): Promise<void> => {
    const body = await bodyOf(request);
    if (request.url === "/answer") resolve(JSON.parse(body));
    else reject(new Error(`the page failed: ${body}`));
  };
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ""] ?? ["text/plain", ""];
    if (request.method === "POST") taken(request).then(() => response.end(), reject);
    else response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, answer };
};

/** A screen that nobody sees, and its name. */
const withScreen = async <A>(xvfb: string, within: AbortSignal, work: (display: string) => Promise<A>): Promise<A> => {
  const args = ["-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"];
  const { child, early } = start(xvfb, args, { stdio: ["ignore", "ignore", "pipe", "pipe"] });
  try {
    return await work(`:${await Promise.race([firstLine(child, 3), early, over(within, "Xvfb")])}`);
  } finally {
    await kill(child);
  }
};

/** Returns what a browser is started with on a page, given a folder for its profile. */
export type BrowserArgs = (profile: string, url: string) => readonly string[];

const open =
  (path: string, args: BrowserArgs, more: NodeJS.ProcessEnv): Guest =>
  (job, within) =>
    inFolder(async (profile) => {
      const { server, url, answer } = await serve(job);
      const env = { ...process.env, HOME: profile, XDG_RUNTIME_DIR: profile, ...more };
      const { child, early } = start(path, args(profile, url), { env });
      try {
        return await Promise.race([answer, early, over(within, path)]);
      } finally {
        await kill(child);
        server.closeAllConnections();
        server.close();
      }
    });

/** A browser that needs no screen. */
export const inBrowser = (path: string, args: BrowserArgs): Guest => open(path, args, {});

/** A browser that draws on a screen. */
export const onScreen =
  (path: string, xvfb: string, args: BrowserArgs): Guest =>
  (job, within) =>
    withScreen(xvfb, within, (display) => open(path, args, { DISPLAY: display })(job, within));

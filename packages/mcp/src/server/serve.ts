/**
 * `serveMcp`: the tools of a runtime for MCP clients. One handler shaped like `fetch` goes into any host of HTTP; stdio is
 * served by the same parts.
 */
import { type AuthInfo, type McpRequestContext, createMcpHandler } from "@modelcontextprotocol/server";
import type { Runtime } from "@pawl/runtime";
import { admitted, local } from "./access.ts";
import { PawlMcpServer } from "./mcp-server.ts";
import { type Caller, type McpServerOptions, settingsOf } from "./options.ts";
import type { ServerPort } from "./port.ts";
import { SignedTokens } from "./signed-token.ts";
import { Tasks } from "./task.ts";
import { Watches } from "./watch.ts";

/** A server of MCP over a runtime. */
export interface ServedMcp {
  /** Answers one request of HTTP. May be detached. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Makes the server of one connection, for a transport of the program's own. */
  readonly connection: (era: McpRequestContext["era"], caller?: Caller) => PawlMcpServer;
  /** Tells subscribers that prompts, or resources, of `extend` have changed. Tools tell by themselves. */
  readonly promptsChanged: () => void;
  readonly resourcesChanged: () => void;
  /** Ends what is under way. The runtime keeps running. */
  readonly close: () => Promise<void>;
}

const overloaded = (): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_000, message: "too many requests are under way: ask again" } },
    { status: 503, headers: { "retry-after": "1" } },
  );

/** The part of a request over HTTP that goes to the server that the library makes for it. */
interface Brought {
  readonly caller: Caller;
  readonly elsewhere?: (address: string) => void;
}

const broughtKey = "pawl";

/** Hands what a request brings through the library. */
const authOf = (brought: Brought): AuthInfo => ({
  token: "",
  clientId: brought.caller.by,
  scopes: [],
  extra: { [broughtKey]: brought },
});

const broughtBy = (auth: AuthInfo | undefined): Brought =>
  (auth?.extra?.[broughtKey] as Brought | undefined) ?? { caller: local };

/** Says that a request was sent on once: it is not sent on again. */
const forwardedHeader = "x-pawl-forwarded";

/** Headers of one hop, which the next sets for itself. */
const ofHop = [
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "expect",
];

/** Sends a request on to the same path at the address of the instance that owns its session. */
const forwarded = async (address: string, request: Request): Promise<Response> => {
  const url = new URL(new URL(request.url).pathname, address.replace(/^ws/, "http"));
  const headers = new Headers(request.headers);
  for (const own of ofHop) headers.delete(own);
  headers.set(forwardedHeader, "1");
  const { body, signal } = request;
  const sent = await fetch(url, {
    method: "POST",
    headers,
    body: body === null ? null : await new Response(body).text(),
    signal,
  });
  return new Response(sent.body, { status: sent.status, headers: sent.headers });
};

/** Counts a response until its last byte is read, or nobody reads it any more. */
const counted = (response: Response, over: () => void): Response => {
  if (response.body === null) {
    over();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await reader.read().catch((thrown: unknown) => {
        over();
        throw thrown;
      });
      if (!done) return controller.enqueue(value);
      over();
      controller.close();
    },
    cancel: (reason) => {
      over();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
};

/** Serves the tools of a runtime to MCP clients. */
export const serveMcp = (runtime: Runtime, options: McpServerOptions = {}): ServedMcp => {
  const settings = settingsOf(options);
  const tokens = new SignedTokens(runtime.secrets("mcp tokens"));
  const port: ServerPort = { runtime, settings, tokens, watches: new Watches(runtime) };
  const tasks = new Tasks(port);
  const connection = (era: McpRequestContext["era"], caller = local): PawlMcpServer =>
    new PawlMcpServer(port, tasks, { caller, era });
  const factory = ({ era, authInfo }: McpRequestContext): PawlMcpServer =>
    new PawlMcpServer(port, tasks, { ...broughtBy(authInfo), era });
  const handler = createMcpHandler(factory, { maxRequestBodySize: settings.maxBytes });
  const unwatch = runtime.registry.watch(() => handler.notify.toolsChanged());
  const answer = async (request: Request): Promise<Response> => {
    const caller = await admitted(settings, request);
    if (caller instanceof Response) return caller;
    const mayForward = request.method === "POST" && !request.headers.has(forwardedHeader);
    const again = mayForward ? request.clone() : undefined;
    let owner: string | undefined;
    const elsewhere = (address: string): void => void (owner = address);
    const response = await handler.fetch(request, { authInfo: authOf({ caller, elsewhere }) });
    const forward = settings.forward ?? forwarded;
    return owner === undefined || again === undefined ? response : forward(owner, again);
  };
  let underWay = 0;
  const fetch = async (request: Request): Promise<Response> => {
    if (underWay >= settings.maxInFlight) return overloaded();
    underWay += 1;
    let isOver = false;
    const over = (): void => {
      if (!isOver) underWay -= 1;
      isOver = true;
    };
    try {
      return counted(await answer(request), over);
    } catch (thrown) {
      over();
      throw thrown;
    }
  };
  const close = async (): Promise<void> => {
    unwatch();
    await handler.close();
  };
  const { promptsChanged, resourcesChanged } = handler.notify;
  return { fetch, connection, promptsChanged, resourcesChanged, close };
};

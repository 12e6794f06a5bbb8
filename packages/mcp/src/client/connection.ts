/**
 * The connection to one server: made when it is needed, watched, and made anew after a pause that doubles with each failure.
 *
 *   down ── needed ──▶ connecting ──▶ up ── lost ──▶ down
 *     ▲                     │
 *     └──── the pause ◀─────┘
 *
 * The handle of a task is no result of a tool to the library, which knows no extension. It is taken off the transport on its
 * way in, and handed through the library in the `_meta` of an empty result.
 */
import {
  Client,
  type JSONRPCMessage,
  type MessageExtraInfo,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
  UnauthorizedError,
  isJSONRPCResultResponse,
} from "@modelcontextprotocol/client";
import { entryOf, errorOf } from "@pawl/runtime/driver";
import { type McpServer, transportTo } from "./server-spec.ts";
import { idempotencyExtension, tasksExtension } from "../server/wire.ts";

/** The abilities of a server, as far as calls depend on it. */
export interface ServerFacts {
  /** The server speaks 2026-07-28 or later. */
  readonly isModern: boolean;
  /** A call that is repeated under its key joins the first one. */
  readonly joinsByKey: boolean;
}

const taskKey = "io.pawl/task";

/** Wraps the handle of a task in an empty result. */
const wrapped = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!isJSONRPCResultResponse(message)) return message;
  const { result } = message;
  const { resultType, _meta: meta, ...task } = result as { resultType?: unknown; _meta?: object };
  if (resultType !== "task") return message;
  const empty = { resultType: "complete", content: [], isError: true, _meta: { ...meta, [taskKey]: task } };
  return { ...message, result: empty } as unknown as JSONRPCMessage;
};

/** Reads the handle of a task from a result. */
export const taskIn = (result: object): { readonly taskId: string; readonly pollIntervalMs?: number } | undefined => {
  const { _meta: meta } = result as { readonly _meta?: { readonly [taskKey]?: { readonly taskId: string } } };
  return meta?.[taskKey];
};

const firstPauseMs = 100;
const longestPauseMs = 30_000;
const mostLogins = 2;

export class McpConnection {
  readonly #server: McpServer;
  readonly #onTools: (tools: readonly Tool[]) => void;
  #client: Promise<Client> | undefined;
  #failures = 0;
  #mayTryAt = 0;
  #isClosed = false;

  /** Calls back with the server's tools whenever they have changed. */
  constructor(server: McpServer, onTools: (tools: readonly Tool[]) => void) {
    this.#server = server;
    this.#onTools = onTools;
  }

  /** Returns a client that is connected. */
  client(): Promise<Client> {
    if (this.#isClosed) return Promise.reject(new Error(`MCP server \`${this.#server.name}\` was closed`));
    this.#client ??= this.#connect().catch((thrown: unknown) => {
      this.#client = undefined;
      this.#failures += 1;
      this.#mayTryAt = Date.now() + Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs);
      throw thrown;
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const pause = this.#mayTryAt - Date.now();
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    const client = await this.#opened(mostLogins);
    this.#failures = 0;
    return client;
  }

  async #opened(logins: number): Promise<Client> {
    const transport = transportTo(this.#server);
    const client = this.#made();
    try {
      await client.connect(transport);
    } catch (thrown) {
      if (!(await this.#login(thrown, transport, logins))) throw thrown;
      return this.#opened(logins - 1);
    }
    this.#watch(client, transport);
    return client;
  }

  #made(): Client {
    const capabilities = {
      elicitation: { form: {} },
      sampling: {},
      roots: {},
      extensions: { [tasksExtension]: {} },
    };
    const client = new Client(
      { name: "pawl", version: "0.1.0" },
      {
        capabilities,
        versionNegotiation: { mode: "auto" },
        inputRequired: { autoFulfill: false },
        listChanged: {
          tools: {
            onChanged: (error, tools) => {
              if (error !== null) this.#note(error);
              else if (tools !== null) this.#onTools(tools);
            },
          },
        },
      },
    );
    // A server of 2025-11-25 asks by requests that name no call: nobody here could say which one a person answers for.
    client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
    client.setRequestHandler("roots/list", () => ({ roots: (this.#server.roots ?? []).map((root) => ({ ...root })) }));
    return client;
  }

  #watch(client: Client, transport: Transport): void {
    const { onmessage, onclose } = transport;
    Object.assign(transport, {
      onmessage: (message: JSONRPCMessage, extra?: MessageExtraInfo) => onmessage?.(wrapped(message), extra),
      onclose: () => {
        onclose?.();
        this.#lost(client);
      },
    });
  }

  /** Forgets a connection that has broken. The next call makes another one. */
  #lost(client: Client): void {
    const held = this.#client;
    void held?.then(
      (current) => {
        if (current === client && this.#client === held) this.#client = undefined;
      },
      () => undefined, // The connection was never made, and is forgotten.
    );
  }

  #note(thrown: unknown): void {
    this.#server.log?.(entryOf("host.internal_error", {}, errorOf(thrown)));
  }

  /** Signs in where that is what a server asks for. Says whether to try again. */
  async #login(thrown: unknown, transport: Transport | undefined, logins: number): Promise<boolean> {
    const { login } = this.#server;
    if (!(thrown instanceof UnauthorizedError) || login === undefined || logins === 0) return false;
    if (!(transport instanceof StreamableHTTPClientTransport)) return false;
    await transport.finishAuth(await login.callback());
    return true;
  }

  /** Does something with a client. A server that wants to see a token first has not done anything yet. */
  async use<A>(act: (client: Client) => Promise<A>, logins = mostLogins): Promise<A> {
    const client = await this.client();
    try {
      return await act(client);
    } catch (thrown) {
      if (!(await this.#login(thrown, client.transport, logins))) throw thrown;
      return this.use(act, logins - 1);
    }
  }

  /** Asks the server for its tools. */
  async tools(): Promise<readonly Tool[]> {
    return this.use(async (client) => (await client.listTools()).tools);
  }

  /** Says what the server is able to do. */
  async facts(): Promise<ServerFacts> {
    const client = await this.client();
    const { extensions = {} } = (client.getServerCapabilities() ?? {}) as { readonly extensions?: object };
    const isModern = (client.getNegotiatedProtocolVersion() ?? "") >= "2026-07-28";
    return { isModern, joinsByKey: idempotencyExtension in extensions };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }
}

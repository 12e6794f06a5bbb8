/**
 * One connection's server. The library behind it does the protocol: versions, headers, streams, prompts and resources. What
 * concerns tools is answered here, in front of it and behind its checks:
 *
 *   transport ─▶ the library's checks ─▶ onmessage ─┬─ tools/call, tasks/* of 2026-07-28 ─▶ ours
 *                                                   └─ everything else ─▶ the library ─▶ tools/list, tools/call of 2025-11-25
 *
 * The library knows no extension: it refuses `tasks/*`, and the handle of a task is no result of a tool to it. So messages
 * are taken off the transport that it was given, by the port that all transports have.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type JSONRPCMessage,
  type JSONRPCRequest,
  McpServer,
  type MessageExtraInfo,
  type McpRequestContext,
  type ProgressToken,
  ResourceTemplate,
  SERVER_INFO_META_KEY,
  SdkError,
  SdkErrorCode,
  type ServerContext,
  type Transport,
  isJSONRPCNotification,
  isJSONRPCRequest,
} from "@modelcontextprotocol/server";
import { OwnedElsewhere } from "@pawl/runtime";
import { type Json, type JsonObject, isObject, jsonFromJs, describe } from "@pawl/tool-value";
import { entryOf, errorOf } from "@pawl/runtime/driver";
import * as E from "fp-ts/lib/Either.js";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type CallAnswer, callTool } from "./call.ts";
import { forStringify, plainBase64Of } from "./encoding.ts";
import { type Caller, shownTo } from "./options.ts";
import { type Client, type ServerPort, attachmentScheme, protocolErrorOf } from "./port.ts";
import { answersIn } from "./question.ts";
import type { Tasks } from "./task.ts";
import { inputSchemaOf, listed } from "./tool-list.ts";
import type { ProgressReport } from "./watch.ts";
import { idempotencyExtension, idempotencyKey, isTaskMethod, tasksExtension } from "./wire.ts";

type Params = { readonly [name: string]: unknown };

const objectOf = (found: unknown): Params => (isObject(found as Json) ? (found as Params) : {});

const clientOf = (caller: Caller, capabilities: ClientCapabilities, isModern: boolean): Client => ({
  caller,
  capabilities,
  hasTasks: isModern && isObject(objectOf(capabilities.extensions)[tasksExtension] as Json),
  isModern,
});

const jsonOf = (found: unknown): Json => {
  const json = jsonFromJs(found ?? {});
  if (E.isRight(json)) return json.right;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `arguments: ${describe(json.left)}`);
};

const textOf = (found: unknown): string | undefined => (typeof found === "string" && found !== "" ? found : undefined);

/** Makes progress notifications: a number that grows with each, as the protocol wants it. */
const progressOf = (token: ProgressToken, send: (params: object) => void): ((report: ProgressReport) => void) => {
  let last = -1;
  return ({ done, total, message }) => {
    last = done !== undefined && done > last ? done : last + 1;
    send({ progressToken: token, progress: last, ...(total === undefined ? {} : { total }), message });
  };
};

/** A request that is answered here. Its client may say that it wants no answer, or end the request of HTTP that asked. */
interface Answering {
  readonly gone: AbortController;
  readonly http: AbortSignal | undefined;
}

const connectionClosed = (): SdkError => new SdkError(SdkErrorCode.ConnectionClosed, "the connection was closed");

/** The part of a server that one connection has for itself. */
export interface ConnectionOptions {
  readonly caller: Caller;
  readonly era: McpRequestContext["era"];
  /** Told where a session lives that another instance owns. */
  readonly elsewhere?: ((address: string) => void) | undefined;
}

export class PawlMcpServer extends McpServer {
  readonly #port: ServerPort;
  readonly #tasks: Tasks;
  readonly #caller: Caller;
  readonly #isModern: boolean;
  /** Requests that are answered here, by their ids. */
  readonly #answering = new Map<unknown, Answering>();

  readonly #elsewhere: ((address: string) => void) | undefined;

  constructor(port: ServerPort, tasks: Tasks, { caller, era, elsewhere }: ConnectionOptions) {
    const { name, version, title, instructions } = port.settings;
    const isModern = era === "modern";
    super(
      { name, version, ...(title === undefined ? {} : { title }) },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: {},
          ...(isModern ? { extensions: { [tasksExtension]: {}, [idempotencyExtension]: {} } } : {}),
        },
        ...(instructions === undefined ? {} : { instructions }),
      },
    );
    this.#port = port;
    this.#tasks = tasks;
    this.#caller = caller;
    this.#isModern = isModern;
    this.#elsewhere = elsewhere;
    this.#offerAttachments();
    port.settings.extend?.(this);
    this.server.setRequestHandler("tools/list", () => ({
      tools: shownTo(port.runtime, port.settings, caller).map((tool) => listed(tool, isModern)),
    }));
    this.server.setRequestHandler("tools/call", (request, context) => this.#callOf(request.params, context));
  }

  /** Returns the schema of a tool, for the library's check of headers that mirror arguments. */
  override toolInputSchemaJson(name: string): { [key: string]: unknown } | undefined {
    const tool = shownTo(this.#port.runtime, this.#port.settings, this.#caller).find((shown) => shown.name === name);
    return tool === undefined ? undefined : (forStringify(inputSchemaOf(tool)) as { [key: string]: unknown });
  }

  /** Serves the bytes that results link to. A link is good for the caller that was given it. */
  #offerAttachments(): void {
    const template = new ResourceTemplate(`${attachmentScheme}{token}`, { list: undefined });
    const config = { description: "An attachment of a tool's result" };
    this.registerResource("attachment", template, config, async (uri, { token }) => {
      const [id, mimeType] = this.#port.tokens.read("attachment", this.#caller.by, String(token)) ?? [];
      const bytes = id === undefined ? undefined : await this.#port.runtime.attachment(id);
      if (bytes === undefined || mimeType === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Resource not found", { uri: uri.href });
      return { contents: [{ uri: uri.href, mimeType, blob: plainBase64Of(bytes) }] };
    });
  }

  /** Answers a call by way of the library, which asks clients of 2025-11-25 by requests of its own. */
  async #callOf(
    { name, arguments: args }: { name: string; arguments?: unknown },
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { mcpReq } = context;
    const { _meta: meta = {} } = mcpReq;
    const token = meta.progressToken;
    const send = (params: object): void =>
      void mcpReq.notify({ method: "notifications/progress", params } as Parameters<typeof mcpReq.notify>[0]);
    const declared = this.server.getClientCapabilities() ?? {};
    try {
      const answer = await callTool(this.#port, {
        client: clientOf(this.#caller, declared, this.#isModern),
        name,
        args: jsonOf(args),
        key: textOf(meta[idempotencyKey]),
        state: textOf(mcpReq.requestState()),
        answers: answersIn(mcpReq.inputResponses),
        signal: mcpReq.signal,
        progress: token === undefined ? undefined : progressOf(token, send),
      });
      return answer as CallToolResult;
    } catch (thrown) {
      throw this.#errorOf(thrown);
    }
  }

  #errorOf(thrown: unknown): ProtocolError {
    if (thrown instanceof OwnedElsewhere && thrown.address !== undefined) this.#elsewhere?.(thrown.address);
    return protocolErrorOf(this.#port.settings, thrown);
  }

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const { onmessage, onclose } = transport;
    const taken = (message: JSONRPCMessage, extra?: MessageExtraInfo): void => {
      if (this.#isModern && isJSONRPCNotification(message) && message.method === "notifications/cancelled")
        this.#answering.get(objectOf(message.params)["requestId"])?.gone.abort();
      if (
        this.#isModern &&
        isJSONRPCRequest(message) &&
        (message.method === "tools/call" || isTaskMethod(message.method))
      )
        return this.#take(message, transport, extra);
      onmessage?.(message, extra);
    };
    const closed = (): void => {
      for (const { gone, http } of this.#answering.values())
        gone.abort(http?.aborted === true ? undefined : connectionClosed());
      onclose?.();
    };
    Object.assign(transport, { onmessage: taken, onclose: closed });
  }

  #take(message: JSONRPCRequest, transport: Transport, extra: MessageExtraInfo | undefined): void {
    const gone = new AbortController();
    const http = extra?.request?.signal;
    this.#answering.set(message.id, { gone, http });
    http?.addEventListener("abort", () => gone.abort(), { once: true });
    const { name, version } = this.#port.settings;
    const identity = { [SERVER_INFO_META_KEY]: { name, version } };
    const reply = (body: object): Promise<void> => {
      this.#answering.delete(message.id);
      return transport.send({ jsonrpc: "2.0", id: message.id, ...body } as JSONRPCMessage, {
        relatedRequestId: message.id,
      });
    };
    this.#answer(message, transport, gone.signal)
      .then((result) => {
        const { _meta: meta, ...rest } = result as { readonly _meta?: object };
        return reply({ result: { resultType: "complete", ...rest, _meta: { ...identity, ...meta } } });
      })
      .catch((thrown: unknown) => {
        const { code, message: text, data } = this.#errorOf(thrown);
        return reply({ error: { code, message: text, ...(data === undefined ? {} : { data }) } });
      })
      .catch((thrown: unknown) => this.#port.settings.log?.(unsent(thrown)));
  }

  async #answer({ method, params, id }: JSONRPCRequest, transport: Transport, signal: AbortSignal): Promise<object> {
    const given = objectOf(params);
    const meta = objectOf(given["_meta"]);
    const client = clientOf(this.#caller, objectOf(meta[CLIENT_CAPABILITIES_META_KEY]) as ClientCapabilities, true);
    if (isTaskMethod(method)) return this.#tasks.answer(method, given, client);
    const { name, requestState } = given;
    if (typeof name !== "string")
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "name: expected the name of a tool");
    if (requestState !== undefined && typeof requestState !== "string")
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "requestState: expected a text");
    const token = meta["progressToken"];
    const send = (said: object): void => {
      const notification = { jsonrpc: "2.0", method: "notifications/progress", params: said } as JSONRPCMessage;
      void transport.send(notification, { relatedRequestId: id });
    };
    const isToken = typeof token === "string" || typeof token === "number";
    const answer: CallAnswer = await callTool(this.#port, {
      client,
      name,
      args: jsonOf(given["arguments"]) as JsonObject,
      key: textOf(meta[idempotencyKey]),
      state: requestState,
      answers: answersIn(given["inputResponses"]),
      signal,
      progress: isToken ? progressOf(token, send) : undefined,
    });
    return answer;
  }
}

const unsent = (thrown: unknown) => entryOf("host.internal_error", {}, errorOf(thrown));

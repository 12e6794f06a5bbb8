/**
 * `@pawl/driver-cloudflare/scope`: the class of a Durable Object that holds one scope. The name of the object is the name of the
 * scope: `env.AGENT.get(env.AGENT.idFromName("session:ann"))`.
 */
import { DurableObject } from "cloudflare:workers";
import type { Runtime, Session } from "@pawl/runtime";
import type { Letter, Peer } from "./carrier.ts";
import { type OpenScope, type ScopeOptions, openScope } from "./open.ts";
import { heartbeatTexts } from "./socket.ts";

/** The namespace of the objects that hold scopes. */
export interface ScopeObjects<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): Peer;
}

/** Time after which an object whose options are refused tries again. */
const refusedMs = 60_000;

/** Holds one scope: extend it with the tools of the scope, the namespace of the class, and verbs of your own. */
export abstract class Scope<Env = unknown> extends DurableObject<Env> {
  #scope: OpenScope | undefined;

  /** Returns the tools of the scope and its options. Asked once, when the object is first used. */
  protected abstract options(): ScopeOptions;

  /** Returns the namespace of this class, by which objects bring each other letters. */
  protected abstract objects(): ScopeObjects;

  get #open(): OpenScope {
    const objects = this.objects();
    const peer = (scope: string): Peer => objects.get(objects.idFromName(scope));
    const sockets = () => this.ctx.getWebSockets();
    return (this.#scope ??= openScope(this.ctx, { peer, sockets, ...this.options() }));
  }

  /** Returns the runtime of this object. */
  protected runtime(): Promise<Runtime> {
    return this.#open.runtime();
  }

  /** Returns the session of this object. */
  protected session(): Promise<Session> {
    return this.#open.session();
  }

  /** Connects a client that speaks the host protocol, where the options have secrets for its token. */
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket" || !this.#open.takesClients)
      return new Response("expected a WebSocket of the host protocol", { status: 426 });
    const { 0: client, 1: server } = new WebSocketPair();
    const { ping, pong } = heartbeatTexts;
    this.ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(ping, pong));
    await this.#open.accept(() => {
      this.ctx.acceptWebSocket(server);
      return server;
    });
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    return this.#open.message(socket, message);
  }

  override webSocketClose(socket: WebSocket): Promise<void> {
    return this.#open.closed(socket);
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.#open.closed(socket);
  }

  /** Takes letters of other objects: no verb of programs. */
  deliver(from: string, letters: readonly Letter[]): Promise<void> {
    return this.#open.deliver(from, letters);
  }

  /** Rings. Where the options are refused, rings again later: the platform gives up an alarm that throws, and the next version mends it. */
  override async alarm(): Promise<void> {
    try {
      await this.#open.alarm();
    } catch (thrown) {
      console.error("the scope of this object cannot be opened:", thrown);
      await this.ctx.storage.setAlarm(Date.now() + refusedMs);
    }
  }
}

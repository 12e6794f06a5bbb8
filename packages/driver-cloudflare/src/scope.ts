/**
 * `@pawl/driver-cloudflare/scope`: the class of a Durable Object that holds one scope. The name of the object is the name of the
 * scope: `env.AGENT.get(env.AGENT.idFromName("session:ann"))`.
 */
import { DurableObject } from "cloudflare:workers";
import type { Runtime, Session } from "@pawl/runtime";
import type { Letter, Peer } from "./carrier.ts";
import { type OpenScope, type ScopeOptions, openScope } from "./open.ts";

/** The namespace of the objects that hold scopes. */
export interface ScopeObjects<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): Peer;
}

/** Time after which an object whose options are refused tries again. */
const refusedMs = 60_000;

export abstract class Scope<Env = unknown> extends DurableObject<Env> {
  #scope: OpenScope | undefined;

  /** Returns the tools of the scope and its options. Asked once, when the object is first used. */
  protected abstract options(): ScopeOptions;

  /** Returns the namespace of this class, by which objects bring each other letters. */
  protected abstract objects(): ScopeObjects;

  get #open(): OpenScope {
    const objects = this.objects();
    const peer = (scope: string): Peer => objects.get(objects.idFromName(scope));
    return (this.#scope ??= openScope(this.ctx, { peer, ...this.options() }));
  }

  /** Returns the runtime of this object. */
  protected runtime(): Promise<Runtime> {
    return this.#open.runtime();
  }

  /** Returns the session of this object. */
  protected session(): Promise<Session> {
    return this.#open.session();
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

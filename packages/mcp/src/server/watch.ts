/**
 * Those who wait for news of a request: a change of what it waits for, or its progress. All requests of a session share one
 * observer, which ends with the last of them.
 */
import { type Frame, type Runtime, type Session, type Subscription } from "@pawl/runtime";
import { callRef } from "@pawl/sansio-core";

/** A report of a call about how far it is. */
export interface ProgressReport {
  readonly message: string;
  readonly done?: number;
  readonly total?: number;
}

/** News of a request. `changed`: look again at what it waits for. */
export type News = { readonly type: "changed" } | { readonly type: "progress"; readonly progress: ProgressReport };

interface Listener {
  /** The beginning of the names of its calls. */
  readonly prefix: string;
  readonly hear: (news: News) => void;
}

interface Watched {
  readonly subscription: Subscription;
  readonly listeners: Set<Listener>;
}

const changed: News = { type: "changed" };

/** Returns the news in a frame, and the call that it is about; without a call it is for everybody. */
const newsIn = (frame: Frame): { readonly call?: string; readonly news: News } | undefined => {
  if (frame.type === "gap") return { news: changed };
  if (frame.type === "missed") return undefined;
  const { observation } = frame;
  switch (observation.type) {
    case "call_parked":
    case "call_decided":
    case "call_unknown":
    case "call_completed":
      return { call: observation.call, news: changed };
    case "progress": {
      const { call, text: message, done, total } = observation;
      const counted = { ...(done === undefined ? {} : { done }), ...(total === undefined ? {} : { total }) };
      return { call, news: { type: "progress", progress: { message, ...counted } } };
    }
    default:
      return undefined;
  }
};

export class Watches {
  readonly #runtime: Runtime;
  readonly #watched = new Map<string, Watched>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Calls back with all news of a request from now on, until the returned function is called. */
  async watch(session: string, request: string, hear: (news: News) => void): Promise<() => void> {
    const watched = this.#watched.get(session) ?? this.#open(session, await this.#runtime.session(session));
    const listener = { prefix: callRef(request, ""), hear };
    watched.listeners.add(listener);
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size === 0) this.#end(session, watched);
    };
  }

  #open(name: string, session: Session): Watched {
    const found = this.#watched.get(name); // Opened by another call meanwhile.
    if (found !== undefined) return found;
    const watched = { subscription: session.observe(), listeners: new Set<Listener>() };
    this.#watched.set(name, watched);
    void this.#follow(name, watched);
    return watched;
  }

  #end(name: string, watched: Watched): void {
    if (this.#watched.get(name) === watched) this.#watched.delete(name);
    void watched.subscription.return();
  }

  /** Follows until nobody listens, or the scope is lost: those who listen look again then. */
  async #follow(name: string, watched: Watched): Promise<void> {
    try {
      for await (const frame of watched.subscription) {
        const found = newsIn(frame);
        if (found === undefined) continue;
        for (const { prefix, hear } of watched.listeners)
          if (found.call === undefined || found.call.startsWith(prefix)) hear(found.news);
      }
    } catch {
      // The scope has left memory, or another process has it: whoever listens asks for it again.
    }
    if (this.#watched.get(name) === watched) this.#watched.delete(name);
    for (const { hear } of watched.listeners) hear(changed);
  }
}

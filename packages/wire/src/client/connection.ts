/** One connection to a host: what is asked over it, and what the host tells without being asked again. */
import type { ClientFrame } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { type Asked, Asking, type AskingOptions } from "./pending-questions.ts";
import { checkedFrame } from "./check.ts";
import { type HostRefused, refusalOf } from "./error.ts";
import type { Flowing } from "./subscription.ts";
import { Link, type LinkOptions } from "./link.ts";
import type { WithoutId } from "./session.ts";

export interface LinePort {
  /** The host has let us in. */
  readonly opened: () => void;
  /** What is no answer to what was asked or subscribed to here. */
  readonly heard: (frame: HostFrame) => void;
  /** There will be no other connection. */
  readonly ended: (error: HostRefused) => void;
  /** A subscription was refused, after it was told something or before: whether it goes on elsewhere. */
  readonly goesOn: (flow: Flowing, refusal: HostRefused, wasTold: boolean) => boolean;
}

interface Begun {
  readonly flow: Flowing;
  wasTold: boolean;
}

export class Line {
  readonly #port: LinePort;
  readonly #asking: Asking;
  readonly #link: Link;
  readonly #begun = new Map<number, Begun>();
  readonly #idOf = new WeakMap<Flowing, number>();
  /** Subscriptions that the host has put off. */
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #ids = 0;
  #ended: HostRefused | undefined;

  constructor(options: LinkOptions, port: LinePort) {
    this.#port = port;
    this.#asking = new Asking((frame) => this.#link.send(frame));
    this.#link = new Link(options, {
      opened: () => this.#resume(),
      heard: (frame) => this.#heard(frame),
      ended: (error) => {
        this.end(error);
        port.ended(error);
      },
    });
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  /** A number that no other question of this connection has. */
  nextId(): number {
    return (this.#ids += 1);
  }

  say(frame: ClientFrame): void {
    this.#link.send(frame);
  }

  /** Asks, and waits for the answer, over as many connections as that takes. */
  async ask(question: WithoutId<Asked>, options?: AskingOptions): Promise<HostFrame> {
    if (this.#ended !== undefined) throw this.#ended;
    return this.#asking.ask(checkedFrame({ ...question, id: this.nextId() } as Asked), options);
  }

  begin(flow: Flowing): void {
    if (this.#ended !== undefined) return flow.end(this.#ended);
    const id = this.nextId();
    this.#begun.set(id, { flow, wasTold: false });
    this.#idOf.set(flow, id);
    this.#subscribe(id);
  }

  seen(flow: Flowing, cursor: number): void {
    const id = this.#idOf.get(flow);
    if (id !== undefined) this.say({ type: "seen", id, cursor });
  }

  leave(flow: Flowing): void {
    const id = this.#idOf.get(flow);
    if (id === undefined) return;
    this.#begun.delete(id);
    this.say({ type: "unobserve", id });
  }

  #subscribe(id: number): void {
    const begun = this.#begun.get(id);
    begun?.flow.whenRead(() => {
      if (this.#begun.get(id) === begun) this.say(begun.flow.question(id));
    });
  }

  #resume(): void {
    this.#port.opened();
    this.#asking.again();
    this.#putOffNothing(); // By this host, on the connection before.
    for (const id of this.#begun.keys()) this.#subscribe(id);
  }

  #heard(frame: HostFrame): void {
    if (!("id" in frame) || frame.id === undefined) return this.#port.heard(frame);
    if (this.#asking.answered(frame.id, frame)) return;
    if (frame.type === "done" || frame.type === "error") return this.#over(frame.id, frame);
    const begun = this.#begun.get(frame.id);
    if (begun === undefined) return;
    begun.wasTold = true;
    begun.flow.heard(frame);
  }

  /** A subscription is over: begun again where that may help. */
  #over(id: number, frame: Extract<HostFrame, { readonly type: "done" | "error" }>): void {
    const begun = this.#begun.get(id);
    if (begun === undefined) return this.#port.heard(frame);
    if (frame.type === "error" && frame.retry_after_ms !== undefined) return this.#later(id, frame.retry_after_ms);
    this.#begun.delete(id);
    if (frame.type === "done") begun.flow.end();
    else this.#refused(begun, refusalOf(frame));
  }

  #later(id: number, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#subscribe(id);
    }, ms);
    this.#timers.add(timer);
  }

  #putOffNothing(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #refused({ flow, wasTold }: Begun, refusal: HostRefused): void {
    if (!this.#port.goesOn(flow, refusal, wasTold)) flow.end(refusal);
  }

  drop(): void {
    this.#link.drop();
  }

  close(error: HostRefused): void {
    this.#link.close();
    this.end(error);
  }

  end(error: HostRefused): void {
    this.#ended ??= error;
    this.#asking.end(error);
    this.#putOffNothing();
    const begun = [...this.#begun.values()];
    this.#begun.clear();
    for (const one of begun) this.#refused(one, error);
  }
}

/** The answers of a turn, as a client reads them from its host. A reconnection goes on after the last frame that arrived. */
import { type TurnCursor, type TurnFrame, turnCursorAfter } from "@pawl/runtime/driver";
import type { HostFrame } from "../frame/host-frame.ts";
import type { SubscribeQuestion } from "./pending-questions.ts";
import { Subscription, type SubscriptionPort } from "./subscription.ts";

export class TurnReading extends Subscription<TurnFrame> {
  readonly #scope: string;
  readonly #request: string;
  readonly #window: number;
  #cursor: TurnCursor | undefined;

  constructor(
    scope: string,
    { request, from }: { readonly request: string; readonly from?: TurnCursor },
    window: number,
    port: SubscriptionPort,
  ) {
    super(window, port);
    this.#scope = scope;
    this.#request = request;
    this.#window = window;
    this.#cursor = from;
  }

  /** The place after the last frame that arrived, from which another reading can go on. */
  get cursor(): TurnCursor | undefined {
    return this.#cursor;
  }

  question(id: number): SubscribeQuestion {
    const from = this.#cursor === undefined ? {} : { from: this.#cursor };
    return { type: "read_turn", id, scope: this.#scope, request: this.#request, window: this.#window, ...from };
  }

  receive(frame: HostFrame): void {
    if (frame.type !== "turn_read") return;
    this.#cursor = turnCursorAfter(frame.frame);
    this.push(frame.frame, frame.n);
  }
}

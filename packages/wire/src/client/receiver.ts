/** Scopes that a host moves to a client: it puts them into the store of a runtime of its own. */
import type { MoveAnswer, Mover } from "@pawl/runtime";
import type { ClientFrame } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";

/** `runtime.moves.arrivals` of whichever runtime has the store now. */
export type Arrivals = () => Pick<Mover, "send" | "decline"> | Promise<Pick<Mover, "send" | "decline">>;

type Told = Extract<HostFrame, { readonly type: "move_part" | "decline_move" }>;

const answerTo = async (told: Told, arrivals: Arrivals): Promise<MoveAnswer> => {
  const mover = await arrivals();
  return told.type === "move_part" ? mover.send(told) : mover.decline(told.scope, told.nonce);
};

export class Receiving {
  readonly #arrivals = new Map<string, Arrivals>();
  readonly #send: (frame: ClientFrame) => void;

  constructor(send: (frame: ClientFrame) => void) {
    this.#send = send;
  }

  get names(): Iterable<string> {
    return this.#arrivals.keys();
  }

  add(name: string, arrivals: Arrivals): void {
    this.#arrivals.set(name, arrivals);
  }

  /** A store that fails says nothing of a scope: the host asks again. */
  async heard(told: Told): Promise<void> {
    const { n, receiver } = told;
    const arrivals = this.#arrivals.get(receiver);
    const answer = arrivals && (await answerTo(told, arrivals).catch(() => undefined));
    this.#send({ type: "move_answer", n, ...(answer === undefined ? {} : { answer }) });
  }
}

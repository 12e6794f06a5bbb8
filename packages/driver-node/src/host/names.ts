/** Names that a connection goes by, of executors and receivers, with what each brought along: how many, how many bytes. */
import type { HostError } from "@pawl/wire/frame";
import type { HostLimits } from "./limits.ts";

export class Names {
  readonly #limits: HostLimits;
  readonly #held = new Map<string, number>();
  #bytes = 0;

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Takes a name in, in the place of the same one before; or says why there is no room. One alone may have any size. */
  enter(id: number, name: string, bytes: number): HostError | undefined {
    const { maxInFlight, maxInFlightBytes } = this.#limits;
    const before = this.#held.get(name);
    const others = this.#bytes - (before ?? 0);
    const refused = (what: string): HostError => {
      const message = `this connection goes by ${what}: close it, or open another one beside it`;
      return { id, code: "too_many_in_flight", message };
    };
    if (before === undefined && this.#held.size >= maxInFlight) return refused(`${maxInFlight} names`);
    if (others > 0 && others + bytes > maxInFlightBytes) return refused(`names with ${others} bytes`);
    this.#held.set(name, bytes);
    this.#bytes = others + bytes;
    return undefined;
  }
}

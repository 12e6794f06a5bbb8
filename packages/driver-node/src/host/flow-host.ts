/**
 * The flows that a host serves, as programs declare them. Apart from the server, so that the package's public types need
 * none of the types of `ws`, which programs do not have.
 */
import type { FlowServerOptions, ServedFlow } from "@pawl/flow";
import type { FlowHost } from "@pawl/runtime";

/** Tells whether a request is for a flow. */
export const isFlowPath = (url: string | undefined): boolean => /^\/flows(?:[/?]|$)/.test(url ?? "");

export interface HostFlowsOptions extends Pick<FlowServerOptions, "wire" | "endsWithReader"> {
  readonly flows: { readonly [name: string]: ServedFlow };
  /** The session of a flow whose request has no `X-Session` header. Default: `flows`. */
  readonly session?: string;
}

/** Flows that a host serves. Made before the runtime, which reports the flows' events through `observe`. */
export class HostFlows {
  readonly options: HostFlowsOptions;
  readonly #observers = new Set<NonNullable<FlowHost["observe"]>>();

  constructor(options: HostFlowsOptions) {
    this.options = options;
  }

  readonly observe: NonNullable<FlowHost["observe"]> = (...of) => {
    for (const observe of this.#observers) observe(...of);
  };

  /** Registers a listener for events. Returns a function that removes it. */
  listen(observe: NonNullable<FlowHost["observe"]>): () => void {
    this.#observers.add(observe);
    return () => void this.#observers.delete(observe);
  }
}

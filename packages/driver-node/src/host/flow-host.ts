/** The flows that a host offers, and who watches them. */
import type { FlowServerOptions, ServedFlow } from "@pawl/flow";
import type { FlowHost } from "@pawl/runtime";

export interface HostFlowsOptions extends Pick<FlowServerOptions, "wire" | "endsWithReader"> {
  readonly flows: { readonly [name: string]: ServedFlow };
  /** The session that a flow runs in, where a request names none by `X-Session`: `flows`, if it is not said. */
  readonly session?: string;
}

/** Flows that a host offers. It is made before the runtime, whose host shows the flows' events by `observe`. */
export class HostFlows {
  readonly options: HostFlowsOptions;
  readonly #observers = new Set<NonNullable<FlowHost["observe"]>>();

  constructor(options: HostFlowsOptions) {
    this.options = options;
  }

  readonly observe: NonNullable<FlowHost["observe"]> = (...of) => {
    for (const observe of this.#observers) observe(...of);
  };

  /** Who hears of events, until they leave. */
  listen(observe: NonNullable<FlowHost["observe"]>): () => void {
    this.#observers.add(observe);
    return () => void this.#observers.delete(observe);
  }
}

/** Work outside that a cancelled call had begun: the host is asked to end it until it has said that it did. */
import type { Command, State } from "@pawl/sansio-core";
import { placeOf, report } from "./call-place.ts";
import type { Platform } from "../platform.ts";
import type { ToolHost } from "./tool-host.ts";

type Cancel = Extract<Command, { readonly type: "external.cancel" }>;

export interface ExternalWork {
  readonly scope: string;
  readonly call: string;
  /** The completion key that the work was to resolve. */
  readonly key: string;
}

export interface ExternalPort {
  readonly host: ToolHost;
  readonly platform: Platform;
  readonly isAbandoned: () => boolean;
}

const pausesMs = [1000, 4000, 16_000, 64_000];

const pause = ({ platform }: ExternalPort, tries: number): Promise<void> =>
  new Promise((resolve) => void platform.later(pausesMs[Math.min(tries, pausesMs.length - 1)] as number, resolve));

/** Resolves when the host has acknowledged; false: the scope was lost before, and its next owner asks again. */
export const cancelExternal = async (port: ExternalPort, state: State, { call, key }: Cancel): Promise<boolean> => {
  const { id: scope } = state.scope;
  for (let tries = 0; !port.isAbandoned(); tries++) {
    try {
      await port.host.cancelExternal?.({ scope, call, key });
      return true;
    } catch (thrown) {
      report(port.host, placeOf(state, call), thrown);
      await pause(port, tries);
    }
  }
  return false;
};

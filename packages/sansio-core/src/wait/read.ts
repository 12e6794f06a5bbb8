/** What a driver tells of a wait to whoever asks. */
import type { Resolution } from "@pawl/tool-value";
import type { State } from "../state.ts";

/** How a key was resolved, while the state knows; after that the finished index does. */
export const resolutionOf = (state: State, key: string): Resolution | undefined =>
  state.waits.at(key)?.terminal?.resolution;

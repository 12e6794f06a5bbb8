/** `@pawl/sansio-core`: the pure state machine. */
export { type Transition, step } from "./core.ts";
export { type State, initial, nextDeadline } from "./state.ts";

/** In the place of `at-hand.ts`: each slot is to be filled before it is needed. */
export { codecs, late } from "./needed.ts";

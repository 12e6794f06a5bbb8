/** Fills the slots of a page. */
import { lateCode } from "../late-code.ts";
import { codecs, late } from "./at-hand.ts";
import { lateCodecs } from "./codec.ts";

/** For who reads events of any kind, and steps none. */
export const fillCodecs = (): void => codecs.fill(lateCodecs);

export const fillAll = (): void => {
  fillCodecs();
  late.fill(lateCode);
};

/** Fills the slots of a page. */
import { lateCode } from "../late-code.ts";
import { lateCodecs } from "./codec.ts";
import { codecs, late } from "./needed.ts";

/** For who reads events of any kind, and steps none. */
export const fillCodecs = (): void => void codecs.with(lateCodecs);

export const fillAll = (): void => {
  fillCodecs();
  late.with(lateCode);
};

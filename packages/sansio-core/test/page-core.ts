/** The core, and the slots that a page fills. */
export * from "../src/index.ts";
export { lateCode } from "../src/late-code.ts";
export { lateCodecs } from "../src/part/codec.ts";
export { codecs, late } from "../src/part/needed.ts";

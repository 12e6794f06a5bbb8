/** `@pawl/wire/frame`: the frames between hosts and clients. */
export { ClientFrame, type Question, type QuestionType, protocolVersion } from "./client-frame.ts";
export { type CloseReason, type HostError, HostFrame, closeCodes } from "./host-frame.ts";
export { frameSlices, readSlices } from "./slices.ts";
export { frameText, readFrame } from "./text.ts";
/** Decodes and encodes a prompt, as people are shown it. */
export { ShownPromptCodec } from "./turn-frame.ts";

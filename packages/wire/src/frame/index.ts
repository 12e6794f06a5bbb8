/** `@pawl/wire/frame`: what hosts and clients say to each other. */
export { ClientFrame, type Question, type QuestionType, protocolVersion } from "./client-frame.ts";
export { type CloseReason, closeCodes } from "./close-code.ts";
export { type HostError, HostFrame } from "./host-frame.ts";
export { frameText, readFrame } from "./text.ts";

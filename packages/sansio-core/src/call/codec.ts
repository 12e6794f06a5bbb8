import { type Codec, ToolCallOutput, oneOf, optional, string, tagged, text, u64 } from "@pawl/tool-value";
import { codecs } from "../part/needed.ts";
import type { ArgsVerdict, BodyResult, ResumeCause } from "./model.ts";

const ArgsVerdictCodec: Codec<ArgsVerdict> = tagged<ArgsVerdict, "verdict">("ArgsVerdict", "verdict", {
  valid: {},
  invalid: { message: text },
  no_contract: {},
});

const BodyResultCodec: Codec<BodyResult> = tagged<BodyResult, "type", "done">(
  "BodyResult",
  "type",
  { done: { output: ToolCallOutput } },
  () => codecs.code.seldomResults,
);

export const ResumeCauseCodec: Codec<ResumeCause> = oneOf(
  "a resume cause",
  "owner_lost",
  "suspended",
  "continued",
  "executor_back",
  "run_again",
  "cancelled",
);

export const ofRun = { call: string, attempt: u64, run: u64 };

export const callEvents = {
  "args.checked": { call: string, args_hash: optional(string), verdict: ArgsVerdictCodec },
  "call.dispatched": { ...ofRun, owner: string, key: optional(string) },
  "call.settled": { ...ofRun, result: BodyResultCodec, duration_ms: u64 },
  "call.resumed": { ...ofRun, cause: ResumeCauseCodec, owner: string },
} as const;

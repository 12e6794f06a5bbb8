import { type Codec, json, optional, string, text, tagged } from "@pawl/tool-value";
import type { Decision } from "./approval-model.ts";

export const DecisionCodec: Codec<Decision> = tagged<Decision, "type">("Decision", "type", {
  approve: {},
  approve_edited: { args: json, args_hash: optional(string) },
  reject: { reason: text },
});

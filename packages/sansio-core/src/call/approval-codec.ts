import { type Codec, json, oneOf, optional, string, text, tagged } from "@pawl/tool-value";
import type { Decision } from "./approval-model.ts";

const DecisionCodec: Codec<Decision> = tagged<Decision, "type">("Decision", "type", {
  approve: {},
  approve_edited: { args: json, args_hash: optional(string) },
  reject: { reason: text },
});

export const approvalEvents = {
  "approval.decided": {
    call: string,
    decision: DecisionCodec,
    args_hash: string,
    by: string,
    sticky: optional(oneOf<"later" | "parked_too">("a stickiness", "later", "parked_too")),
    decision_id: optional(string),
  },
} as const;

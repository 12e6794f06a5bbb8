import { type Codec, boolean, defaulted, oneOf, optional, record, string, tagged, u64 } from "@pawl/tool-value";
import type {
  Availability,
  DivergencePolicy,
  Hints,
  Policy,
  Recovery,
  RetryPolicy,
  Scheduling,
  Tool,
} from "./model.ts";

const kept = (): boolean => false;

export const AvailabilityCodec: Codec<Availability> = oneOf(
  "an availability",
  "off",
  "searchable",
  "callable",
  "showcased",
);

const bounded = { max_attempts: u64, base_delay_ms: u64, max_delay_ms: u64 };
/** Reads and writes a tool's policy for further attempts. */
export const RetryPolicyCodec: Codec<RetryPolicy> = tagged<RetryPolicy, "type">("ToolRetryPolicy", "type", {
  never: {},
  safe: bounded,
  idempotent: bounded,
});

const HintsCodec: Codec<Hints> = record<Hints>("struct Hints", {
  readonly: defaulted(boolean, false, kept),
  idempotent: defaulted(boolean, false, kept),
});

export const ToolCodec: Codec<Tool> = record<Tool>("struct Tool", {
  id: string,
  name: string,
  availability: defaulted(AvailabilityCodec, "showcased", kept),
  scheduling: defaulted<Scheduling>(oneOf("a scheduling", "parallel", "serial"), "parallel", kept),
  retry_policy: defaulted<RetryPolicy>(RetryPolicyCodec, { type: "never" }, kept),
  policy: defaulted<Policy>(oneOf("a policy", "auto", "requires_approval", "client_side"), "auto", kept),
  durable: defaulted(boolean, false, kept),
  hints: defaulted<Hints>(HintsCodec, { readonly: false, idempotent: false }, kept),
  recovery: optional<Recovery>(oneOf("a recovery", "rerunnable", "owner_bound", "externally_owned")),
  divergence: defaulted<DivergencePolicy>(oneOf("a divergence policy", "park", "release", "fail"), "park", kept),
  approval_ms: optional(u64),
  checks: defaulted(boolean, false, kept),
  prepares: defaulted(boolean, false, kept),
});

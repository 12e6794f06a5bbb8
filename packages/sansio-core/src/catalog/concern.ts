/** Tools come and go as a whole; overrides stay. */
import {
  type Codec,
  array,
  boolean,
  defaulted,
  nullable,
  oneOf,
  optional,
  record,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import type {
  Availability,
  CatalogEvent,
  CatalogRows,
  DivergencePolicy,
  Hints,
  Policy,
  Recovery,
  RetryPolicy,
  Scheduling,
  Tool,
} from "./model.ts";
import type { Concern } from "../concern.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf, State } from "../kernel/vocabulary.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { type ProtocolRule, missingRule } from "../kernel/protocol.ts";
import { VersionsCodec, setVersions } from "../scope/model.ts";

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
  on_crash_loop: optional(oneOf<"fail">("what a crash loop leads to", "fail")),
  approval_ms: optional(u64),
  waives_approval: optional(boolean),
  queue: optional(string),
  checks: defaulted(boolean, false, kept),
  prepares: defaulted(boolean, false, kept),
});

const firstRepeated = (names: readonly string[]): string | undefined =>
  names.length === new Set(names).size ? undefined : names.find((name, i) => names.indexOf(name) !== i);

/** Refuses fields that the protocol of a scope does not have. */
const tooYoung = (protocol: number, tools: readonly Tool[]): Rejection | undefined => {
  for (const [field, rule] of Object.entries(fieldRules) as [keyof typeof fieldRules, ProtocolRule][]) {
    const young = tools.find((tool) => tool[field] !== undefined);
    const missing = young && missingRule(protocol, rule, `\`${field}\` of tool \`${young.name}\``);
    if (missing !== undefined) return missing;
  }
  return undefined;
};
const fieldRules = { on_crash_loop: "crash_loops", waives_approval: "waived_approvals", queue: "queues" } as const;

export const onPublished = (draft: Draft, { tools, versions }: EventOf<"catalog.published">): Rejection | undefined => {
  const repeated = firstRepeated(tools.map(({ id }) => id)) ?? firstRepeated(tools.map(({ name }) => name));
  if (repeated !== undefined) return reject("tool_conflict", `two tools are called \`${repeated}\``);
  const missing = tooYoung(draft.scope.protocol, tools);
  if (missing !== undefined) return missing;
  draft.setCatalog({
    ...draft.catalog,
    byName: PersistentMap.of(tools.map((tool) => [tool.name, tool])),
    byId: PersistentMap.of(tools.map((tool) => [tool.id, tool])),
  });
  setVersions(draft, versions);
  if (draft.process !== undefined) draft.raise({ type: "tools.published" });
  return undefined;
};

export const onOverridden = (draft: Draft, { names, availability }: EventOf<"catalog.overridden">): undefined => {
  const { catalog } = draft;
  const overrides = names.reduce(
    (map, name) => (availability === null ? map.delete(name) : map.set(name, availability)),
    catalog.overrides,
  );
  draft.setCatalog({ ...catalog, overrides });
};

export const checkK1 = ({ catalog: { byName, byId } }: State): string | undefined => {
  if (byName.size !== byId.size) return `K1: ${byName.size} names for ${byId.size} ids`;
  for (const [id, tool] of byId) {
    if (tool.id !== id || byName.get(tool.name) !== tool)
      return `tool \`${id}\`: K1: its name \`${tool.name}\` is another's`;
  }
  return undefined;
};

const availabilities: ReadonlySet<string> = new Set(["off", "searchable", "callable", "showcased"]);

export const checkK2 = ({ catalog: { overrides } }: State): string | undefined => {
  const invalid = [...overrides].find(([, availability]) => !availabilities.has(availability));
  return invalid === undefined ? undefined : `tool \`${invalid[0]}\`: K2: it is overridden to be ${invalid[1]}`;
};

export const catalogChecks = [checkK1, checkK2] as const;

export const catalog: Concern<CatalogRows, CatalogEvent["type"]> = {
  name: "catalog",
  events: {
    "catalog.published": {
      fields: { tools: array(ToolCodec), versions: optional(VersionsCodec) },
      fieldsSince: { versions: "parked_divergence" },
      on: onPublished,
    },
    "catalog.overridden": {
      fields: { names: array(string), availability: nullable(AvailabilityCodec) },
      on: onOverridden,
    },
  },
  signals: {},
  commands: {},
  checks: catalogChecks,
  rows: { catalog: { byName: PersistentMap.empty(), byId: PersistentMap.empty(), overrides: PersistentMap.empty() } },
};

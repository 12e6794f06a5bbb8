/** The fields of a tool: the words of the AI SDK and of MCP in camelCase, in place of those of the wire. */
import type { ObjectExpression, ObjectProperty } from "oxc-parser";
import type { Renaming } from "../rewrite.ts";
import { type Source, bare, keyOf } from "../source.ts";
import { toolsIn } from "./tool.ts";

const renamed: { readonly [old: string]: string } = {
  display_name: "title",
  scheduling: "concurrency",
  divergence: "onDivergence",
};

const textIn = (property: ObjectProperty | undefined): string | undefined => {
  const value = property && bare(property.value);
  return value?.type === "Literal" && typeof value.value === "string" ? value.value : undefined;
};

/** `policy` and `approval_ms` → `needsApproval`, or `clientSide`. */
const approval = (source: Source, tool: ObjectExpression): void => {
  const policy = source.property(tool, "policy");
  const expiry = source.property(tool, "approval_ms");
  const limit = expiry && source.textOf(expiry.value);
  if (policy === undefined && expiry === undefined) return;
  const said = textIn(policy);
  const wanted = limit === undefined ? "needsApproval: true" : `needsApproval: { expiresInMs: ${limit} }`;
  if (policy === undefined) source.note(tool, "only a tool with `needsApproval` has a limit for the decision");
  if (policy !== undefined && said === undefined) {
    const when = `when: ${source.textOf(policy.value)} === "requires_approval"`;
    source.note(policy, "`policy` is not written out here: see whether its tool needs an approval");
    const all = limit === undefined ? when : `${when}, expiresInMs: ${limit}`;
    source.replaceProperty(tool, policy, [`needsApproval: { ${all} }`]);
  } else if (policy !== undefined) {
    const now = said === "requires_approval" ? [wanted] : said === "client_side" ? ["clientSide: true"] : [];
    source.replaceProperty(tool, policy, now);
  }
  if (expiry !== undefined) source.replaceProperty(tool, expiry, policy === undefined ? [wanted] : []);
};

const retryFields: { readonly [old: string]: string } = {
  max_attempts: "attempts",
  base_delay_ms: "firstDelayMs",
  max_delay_ms: "maxDelayMs",
};

/** `retry_policy` → `retry`. */
const retry = (source: Source, tool: ObjectExpression): void => {
  const property = source.property(tool, "retry_policy");
  if (property === undefined) return;
  const terms = source.objectIn(property.value);
  const type = terms && source.property(terms, "type");
  if (textIn(type) === "never") return source.replaceProperty(tool, property, []);
  source.renameProperty(tool, "retry_policy", "retry");
  if (terms === undefined)
    return source.note(property, "write `retry: { attempts, firstDelayMs, maxDelayMs, idempotent }`");
  for (const [old, now] of Object.entries(retryFields)) source.renameProperty(terms, old, now);
  if (type === undefined) return;
  const said = textIn(type);
  if (said === undefined)
    source.replaceProperty(terms, type, [`idempotent: ${source.textOf(type.value)} === "idempotent"`]);
  else source.replaceProperty(terms, type, said === "idempotent" ? ["idempotent: true"] : []);
};

/** Fields that pawl hands on and does not act on. */
const handedOn = new Set([
  "argument_projection",
  "availability_override",
  "bindings",
  "category",
  "compact_contract",
  "deferrable",
  "examples",
  "input_schema",
  "input_schema_projections",
  "output_contract",
  "output_schema",
  "output_schema_projections",
]);

/** Says whether a tool runs in the background: `supports_background` follows from that. */
const hasBackground = (source: Source, tool: ObjectExpression): boolean =>
  source.property(tool, "background") !== undefined;

/** Reads the hints of a tool: those that are fields now, and the text of the others. */
const hintsOf = (
  source: Source,
  tool: ObjectExpression,
  property: ObjectProperty,
): { readonly fields: readonly string[]; readonly others: string | undefined } => {
  const value = bare(property.value);
  if (value.type !== "ObjectExpression" || value.properties.some(({ type }) => type === "SpreadElement"))
    return { fields: [], others: property.shorthand ? "hints" : `hints: ${source.textOf(property.value)}` };
  const fields: string[] = [];
  const others: string[] = [];
  for (const hint of value.properties) {
    const name = keyOf(hint);
    if (name === "readonly" && hint.type === "Property") fields.push(`readOnly: ${source.textOf(hint.value)}`);
    else if (name === "idempotent") fields.push(source.textOf(hint));
    else if (name !== "supports_background" || !hasBackground(source, tool)) others.push(source.textOf(hint));
  }
  return { fields, others: others.length === 0 ? undefined : `hints: { ${others.join(", ")} }` };
};

/** `hints` → `readOnly` and `idempotent`; what nothing acts on → `manifest`. */
const manifest = (source: Source, tool: ObjectExpression): void => {
  const hints = source.property(tool, "hints");
  const read = hints === undefined ? undefined : hintsOf(source, tool, hints);
  const others = tool.properties.filter((property) => handedOn.has(keyOf(property) ?? ""));
  const texts = [...(read?.others === undefined ? [] : [read.others]), ...others.map((one) => source.textOf(one))];
  const now = texts.length === 0 ? [] : [`manifest: { ${texts.join(", ")} }`];
  if (hints !== undefined) source.replaceProperty(tool, hints, [...(read?.fields ?? []), ...now]);
  for (const [i, property] of others.entries())
    source.replaceProperty(tool, property, hints === undefined && i === 0 ? now : []);
};

export const toolField: Renaming = {
  title: "tools: `needsApproval`, `retry`, `readOnly`, `title`, `concurrency` and the like; the rest is in `manifest`",
  apply: (source) => {
    for (const tool of toolsIn(source)) {
      for (const [old, now] of Object.entries(renamed)) source.renameProperty(tool, old, now);
      approval(source, tool);
      retry(source, tool);
      manifest(source, tool);
    }
  },
};

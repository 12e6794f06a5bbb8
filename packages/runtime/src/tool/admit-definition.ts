/** Refuses definitions of tools that could not run, in the words that their authors write. */
import type { Tool } from "@pawl/sansio-core";
import { Refused, shownOf, unknownKeyIn } from "../error.ts";
import { problemOfJsonSchema } from "./argument.ts";
import type { NeedsApproval, ToolDefinition, ToolDescription } from "./definition.ts";
import { problemOfLimit } from "./limit.ts";
import { contractFields, manifestFields } from "./manifest.ts";

const descriptionFields: { readonly [F in keyof Required<ToolDescription>]: 1 } = {
  name: 1,
  id: 1,
  description: 1,
  title: 1,
  inputSchema: 1,
  outputSchema: 1,
  durable: 1,
  suspend: 1,
  needsApproval: 1,
  retry: 1,
  readOnly: 1,
  idempotent: 1,
  recovery: 1,
  concurrency: 1,
  limit: 1,
  clientSide: 1,
  availability: 1,
  activation: 1,
  onDivergence: 1,
  onCrashLoop: 1,
  version: 1,
  manifest: 1,
};
const definitionFields = { ...descriptionFields, narrate: 1, prepare: 1, execute: 1, background: 1 };
const retryFields = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1, idempotent: 1 };
const approvalFields = { when: 1, expiresInMs: 1 };

/** Makes the refusal of a tool. */
export const refused = (message: string): Refused => new Refused("invalid_tool", message);

/** Names of an older release and of the wire, with what is written in their place. */
const renamed: { readonly [old: string]: string } = {
  parameters: "inputSchema",
  input_schema: "inputSchema",
  output_schema: "outputSchema",
  policy: "needsApproval",
  approval_ms: "needsApproval: { expiresInMs }",
  retry_policy: "retry",
  hints: "readOnly, idempotent",
  display_name: "title",
  scheduling: "concurrency",
  divergence: "onDivergence",
};
const wireFields = { ...manifestFields, ...contractFields };

const instead = (name: string): string | undefined =>
  Object.hasOwn(renamed, name) ? renamed[name] : Object.hasOwn(wireFields, name) ? `manifest: { ${name} }` : undefined;

const admitKnown = (at: string, tool: string, given: object, known: object): void => {
  const unknownKey = unknownKeyIn(at, given, known);
  if (unknownKey !== undefined) throw refused(`tool \`${tool}\`: ${unknownKey}`);
};

/** Rejects fields of an older release: a tool with `policy` would silently run without its approval. */
export const admitNames = (description: ToolDescription): void => {
  for (const field of Object.keys(description)) {
    const now = Object.hasOwn(definitionFields, field) ? undefined : instead(field);
    if (now === undefined) continue;
    throw refused(`tool \`${description.name}\`: \`${field}\` is no field of a tool: write \`${now}\``);
  }
};

/** Rejects unknown fields: a misspelt `durable` would silently make the tool non-durable. */
export const admitFields = (description: ToolDescription): void => {
  admitNames(description);
  admitKnown("", description.name, description, definitionFields);
  const problem = problemOfLimit(description);
  if (problem !== undefined) throw refused(problem);
};

/** Refuses what is no object at all. */
export const admittedDefinition = (given: unknown): ToolDefinition => {
  if (typeof given === "object" && given !== null) return given as ToolDefinition;
  throw refused(`a tool is expected to be what \`defineTool\` gives, found ${shownOf(given)}`);
};

/** Refuses blank names: models call tools by name. */
export const admitName = (what: string, name: unknown): void => {
  if (typeof name === "string" && name.trim() !== "") return;
  const found = typeof name === "string" ? JSON.stringify(name) : typeof name;
  throw refused(`${what}: a tool's name is expected to be a text that is not blank, found ${found}`);
};

/** Refuses a schema that values cannot be checked against. */
export const admitSchema = (what: string, schema: unknown, problemOf = problemOfJsonSchema): void => {
  const problem = problemOf(schema);
  if (problem !== undefined) throw refused(`${what} does not fit: ${problem}`);
};

const optionalParts = ["prepare", "background", "narrate"] as const;

/** Refuses functions that are none. */
export const admitParts = (definition: ToolDefinition): void => {
  for (const part of ["execute", ...optionalParts] as const) {
    const found: unknown = definition[part];
    if (typeof found === "function" || (found === undefined && part !== "execute")) continue;
    throw refused(`\`${part}\` of tool \`${definition.name}\` is expected to be a function, found ${shownOf(found)}`);
  }
};

const isCount = (found: unknown, least: number): boolean => Number.isSafeInteger(found) && Number(found) >= least;

/** Writes `retry` as the policy on the wire. */
export const retryPolicyOf = ({ name, retry }: ToolDescription): Tool["retry_policy"] | undefined => {
  if (retry === undefined) return undefined;
  admitKnown("retry.", name, retry, retryFields);
  const { attempts, firstDelayMs = 100, maxDelayMs = 0, idempotent = false } = retry;
  if (!isCount(attempts, 1))
    throw refused(`\`retry.attempts\` of tool \`${name}\`: expected 1 or more, found ${shownOf(attempts)}`);
  for (const [field, found] of Object.entries({ firstDelayMs, maxDelayMs }))
    if (!isCount(found, 0))
      throw refused(`\`retry.${field}\` of tool \`${name}\`: expected whole milliseconds, found ${shownOf(found)}`);
  const type = idempotent ? "idempotent" : "safe";
  return { type, max_attempts: attempts, base_delay_ms: firstDelayMs, max_delay_ms: maxDelayMs };
};

type Asked = Extract<NeedsApproval<unknown>, { readonly when?: unknown }>;

/** Reads `needsApproval` in each of its forms. */
export const approvalOf = ({ name, needsApproval = false }: ToolDescription): Required<Pick<Asked, "when">> & Asked => {
  if (typeof needsApproval === "boolean" || typeof needsApproval === "function") return { when: needsApproval };
  if (typeof needsApproval !== "object" || needsApproval === null)
    throw refused(
      `\`needsApproval\` of tool \`${name}\`: expected true, false, a function or { when, expiresInMs }, found ${shownOf(needsApproval)}`,
    );
  admitKnown("needsApproval.", name, needsApproval, approvalFields);
  const { when = true, expiresInMs } = needsApproval;
  if (typeof when !== "boolean" && typeof when !== "function")
    throw refused(
      `\`needsApproval.when\` of tool \`${name}\`: expected a boolean or a function, found ${shownOf(when)}`,
    );
  if (expiresInMs !== undefined && !isCount(expiresInMs, 0))
    throw refused(
      `\`needsApproval.expiresInMs\` of tool \`${name}\`: expected whole milliseconds, found ${shownOf(expiresInMs)}`,
    );
  return expiresInMs === undefined ? { when } : { when, expiresInMs };
};

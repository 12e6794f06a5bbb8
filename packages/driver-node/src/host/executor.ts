/** Executors over the wire. Each settles only runs that were offered to its own connection. */
import { Refused, type Runtime } from "@pawl/runtime";
import type { ClientFrame, HostError, HostFrame } from "@pawl/wire/frame";
import type { Claims } from "./token.ts";
import { refuseUnknown } from "./question.ts";

/** An executor registered by this connection. */
export interface OwnExecutor {
  readonly name: string;
  readonly leave: () => void;
}

export const executorName = (by: string, executor: string): string =>
  `${encodeURIComponent(by)}/${encodeURIComponent(executor)}`;

/**
 * Returns why an executor cannot register. Unknown tools are allowed, since they may be added later; a tool's name
 * instead of its id is a mistake.
 */
export const executorProblem = (
  { registry }: Runtime,
  { id, tools }: Extract<ClientFrame, { readonly type: "execute" }>,
  { by, rights }: Claims,
): HostError | undefined => {
  if (!rights.includes("execute"))
    return { id, code: "permission_denied", message: `\`${by}\` has no right to execute` };
  const idOf = new Map(registry.catalog().map((tool) => [tool.name, tool.id]));
  const name = tools.find((found) => registry.live(found) === undefined && idOf.has(found));
  if (name === undefined) return undefined;
  const message = `expected ids of tools, found the name \`${name}\`: its id is \`${idOf.get(name)}\``;
  return { id, code: "invalid_argument", message };
};

export const isScope = (name: string): boolean => /^(?:session|process):./.test(name);

export const settle = async (
  runtime: Runtime,
  executors: ReadonlyMap<string, OwnExecutor>,
  { id, executor, scope, call, attempt, run, output, duration_ms }: Extract<ClientFrame, { readonly type: "settle" }>,
): Promise<HostFrame> => {
  const own = executors.get(executor);
  if (own === undefined)
    throw new Refused("not_offered", `this connection does not speak for executor \`${executor}\`: say execute first`);
  if (!isScope(scope)) throw new Refused("scope_unknown", `expected session:<id> or process:<id>, found \`${scope}\``);
  await refuseUnknown(runtime, scope);
  const outcome = await runtime.settle(own.name, { scope, call, attempt, run, output, duration_ms });
  return { type: "settled", id, outcome };
};

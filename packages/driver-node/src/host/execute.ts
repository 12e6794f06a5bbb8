/** Executors over the wire: each answers under its own connection, for what was offered to it. */
import { Refused, type Runtime } from "@pawl/runtime";
import type { ClientFrame, HostFrame } from "@pawl/wire/frame";
import { refuseUnknown } from "./verb.ts";

/** An executor that this connection speaks for. */
export interface OwnExecutor {
  readonly name: string;
  readonly leave: () => void;
}

export const executorName = (by: string, executor: string): string =>
  `${encodeURIComponent(by)}/${encodeURIComponent(executor)}`;

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

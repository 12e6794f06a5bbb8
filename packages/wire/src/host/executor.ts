/** The executors of one connection. Each settles only runs that were offered to its own connection. */
import { type Log, Refused, type Runtime } from "@pawl/runtime";
import { entryOf } from "@pawl/runtime/driver";
import type { ClientFrame, HostError, HostFrame } from "../frame/index.ts";
import { hostErrorOf } from "./error.ts";
import { refuseUnknown } from "./question.ts";
import type { Claims } from "./token.ts";
import type { RegisteredNames } from "./limits.ts";

type Of<T extends ClientFrame["type"]> = Extract<ClientFrame, { readonly type: T }>;

interface Registered {
  readonly name: string;
  readonly leave: ReturnType<Runtime["register"]>;
}

const nameOf = (by: string, executor: string): string => `${encodeURIComponent(by)}/${encodeURIComponent(executor)}`;

/**
 * Returns why an executor cannot register. Unknown tools are allowed, since they may be added later; a tool's name
 * instead of its id is a mistake.
 */
const problemOf = (
  { registry }: Runtime,
  { id, tools }: Of<"execute">,
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

export interface ExecutorsPort {
  readonly runtime: Runtime;
  readonly log: Log;
  readonly names: RegisteredNames;
  readonly send: (frame: HostFrame) => void;
}

export class Executors {
  readonly #port: ExecutorsPort;
  readonly #registered = new Map<string, Registered>();

  constructor(port: ExecutorsPort) {
    this.#port = port;
  }

  /** Registers an executor. Its name in the log contains its principal, so two principals cannot share one. */
  register(frame: Of<"execute">, bytes: number, claims: Claims): void {
    const { id, executor, tools } = frame;
    const { runtime, log, names, send } = this.#port;
    const problem = problemOf(runtime, frame, claims) ?? names.register(id, `executor:${executor}`, bytes);
    if (problem !== undefined) {
      const { code, message } = problem;
      log(entryOf("executor.refused", { by: claims.by, code, message }));
      return send({ type: "error", ...problem });
    }
    const name = nameOf(claims.by, executor);
    this.#registered.get(executor)?.leave();
    const leave = runtime.register({
      id: name,
      tools,
      serves: (scope) => claims.scopes.some((prefix) => scope.startsWith(prefix)),
      offer: (offer) => send({ type: "offer", executor, ...offer }),
      cancel: (run) => send({ type: "cancelled", executor, ...run }),
    });
    this.#registered.set(executor, { name, leave });
    if (frame.farewell === true) this.#release(executor);
    return send({ type: "done", id });
  }

  /** Takes back what an executor has not ended: it has left for good. */
  #release(executor: string): void {
    this.#registered.get(executor)?.leave("released");
    this.#registered.delete(executor);
    this.#port.names.remove(`executor:${executor}`);
  }

  async settle({ id, executor, scope, ...settled }: Of<"settle">): Promise<HostFrame> {
    const own = this.#registered.get(executor);
    if (own === undefined) {
      const message = `this connection does not speak for executor \`${executor}\`: say execute first`;
      throw new Refused("not_offered", message);
    }
    if (!isScope(scope))
      throw new Refused("scope_unknown", `expected session:<id> or process:<id>, found \`${scope}\``);
    await refuseUnknown(this.#port.runtime, scope);
    const { call, attempt, run, output, duration_ms } = settled;
    const outcome = await this.#port.runtime.settle(own.name, { scope, call, attempt, run, output, duration_ms });
    return { type: "settled", id, outcome };
  }

  /** Passes progress on to observers if the run was offered to this connection; otherwise drops it. */
  progress({ executor, scope, call, attempt, run, ...said }: Omit<Of<"progress">, "type">): void {
    const own = this.#registered.get(executor);
    if (own === undefined || !isScope(scope)) return;
    const { runtime, log } = this.#port;
    const passedOn = runtime.progress(own.name, { scope, call, attempt, run }, said);
    passedOn.catch((thrown: unknown) => hostErrorOf(thrown, log));
  }

  /** Unregisters all executors of a closed connection. */
  leave(): void {
    for (const { leave } of this.#registered.values()) leave();
  }
}

/** `ctx.processes`: what a body does with processes. Each is a durable effect under the key of what it does. */
import {
  type ProcessAwaitOutput,
  type ProcessHandleSummary,
  type ProcessListMode,
  type ProcessStatus,
  type SessionScope,
  processEffectId,
  sessionScopeId,
  transferEffectId,
} from "@pawl/sansio-core/driver";
import { awaitEffectKey } from "../value.ts";
import { type Asking, type Durable, durable, handled, refusing } from "./asking.ts";
import { ProcessAsking } from "./process-asking.ts";
import { type ProcessStart, holderOf } from "../../process/registration.ts";

/** How a process stands after it was asked to end. */
export interface CancelledProcess {
  readonly process_id: string;
  readonly status: ProcessStatus["state"];
}
/** Where a signal stands in its process's log. */
export interface SignalledProcess {
  readonly process_id: string;
  readonly sequence: number;
}

export interface ProcessesFacet {
  readonly start: (request: ProcessStart) => Durable<ProcessHandleSummary>;
  /** Its end. With a signal: when that is aborted the process is asked to end, and its real end is still awaited. */
  readonly await: (id: string, options?: { readonly signal?: AbortSignal }) => Durable<ProcessAwaitOutput>;
  readonly cancel: (id: string) => Durable<CancelledProcess>;
  readonly signal: (id: string, name: string, payload: unknown, signalId?: string) => Durable<SignalledProcess>;
  readonly listHandles: () => Durable<readonly ProcessHandleSummary[]>;
  readonly listAllHandles: () => Durable<readonly ProcessHandleSummary[]>;
  readonly listHandlesFiltered: (
    keep: (handle: ProcessHandleSummary) => boolean,
  ) => Promise<readonly ProcessHandleSummary[]>;
  readonly validateHandles: (ids: readonly string[]) => Durable<void>;
  readonly transferHandles: (sessionId: string, ids: readonly string[]) => Durable<void>;
  readonly transferHandlesToFrame: (frameId: string, ids: readonly string[]) => Durable<void>;
  readonly cancelAll: () => Promise<readonly CancelledProcess[]>;
  /** Cancels what runs and is not to be kept. */
  readonly cancelUnreferencedHandles: (keep: readonly string[]) => Promise<readonly CancelledProcess[]>;
}

export interface Processes {
  readonly processes: ProcessesFacet;
}

export const processes = (asking: Asking): Processes => {
  const { facts } = asking;
  const { processApi } = facts;
  let made: ProcessAsking | undefined;

  const asked = <A>(key: string, ask: (of: ProcessAsking) => Promise<A>): Durable<A> =>
    durable(key, ask((made ??= new ProcessAsking(asking))));

  const holder = (): SessionScope | undefined => holderOf(processApi.state());

  const cancel: ProcessesFacet["cancel"] = (id) => {
    const key = processEffectId({ op: "cancel", process_id: id });
    return asked(key, (of) => of.cancel(key, id));
  };

  const listed = (mode: ProcessListMode): Durable<readonly ProcessHandleSummary[]> => {
    const scope = holder();
    const name = scope === undefined ? processApi.state().scope.id : sessionScopeId(scope);
    const key = asking.nextName(`process:list:${name}:${mode}`);
    return asked(key, (of) => of.list(key, mode));
  };

  const transfer = (to: SessionScope, ids: readonly string[]): Durable<void> =>
    refusing("process:transfer", () => {
      const from = holder() ?? { session_id: "" };
      const key = asking.nextName(transferEffectId(from, to, ids));
      return asked(key, (of) => of.transfer(key, from, to, ids));
    });

  const cancelEach = async (keep: readonly string[]): Promise<readonly CancelledProcess[]> => {
    const live = await listed("live");
    return Promise.all(live.filter(({ id }) => !keep.includes(id)).map(({ id }) => cancel(id)));
  };

  return {
    processes: {
      start: (request) =>
        refusing("process:start", () => {
          const key = processEffectId({ op: "start", process_id: request.id });
          return asked(key, (of) => of.start(key, request));
        }),
      await: (id, { signal } = {}) => {
        const wait = processEffectId({ op: "await", process_id: id });
        const key = awaitEffectKey(wait);
        return asked(key, (of) => of.await(key, wait, id, signal));
      },
      cancel,
      signal: (id, name, payload, signalId = `${facts.executionScope}/${facts.name}`) => {
        const key = processEffectId({ op: "signal", process_id: id, signal_name: name, signal_id: signalId });
        return asked(key, (of) => of.signal(key, id, { name, signalId, payload }));
      },
      listHandles: () => listed("live"),
      listAllHandles: () => listed("all"),
      listHandlesFiltered: (keep) => handled(listed("all").then((handles) => handles.filter(keep))),
      validateHandles: (ids) => {
        const key = asking.nextName("process:validate");
        return asked(key, (of) => of.validate(key, ids));
      },
      transferHandles: (session_id, ids) => transfer({ session_id }, ids),
      transferHandlesToFrame: (agent_frame_id, ids) =>
        transfer({ session_id: holder()?.session_id ?? "", agent_frame_id }, ids),
      cancelAll: () => handled(cancelEach([])),
      cancelUnreferencedHandles: (keep) => handled(cancelEach(keep)),
    },
  };
};

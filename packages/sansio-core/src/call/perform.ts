/** What a body's request asks of the world, or of another concern; of a step it is its own. */
import type { CallIn } from "./model.ts";
import type { Draft } from "../kernel/draft.ts";
import type { EventOf } from "../kernel/event.ts";
import { effectBatch } from "../kernel/ids.ts";
import { processOfScope } from "../identity/process-scope.ts";
import { handleMisfit } from "../link/handle-read.ts";
import type { EffectSpec } from "./effect-model.ts";

type Requested = EventOf<"effect.requested">;
type Spec<K extends EffectSpec["kind"]> = Extract<EffectSpec, { readonly kind: K }>;

const openWait = (draft: Draft, row: CallIn<"running">, key: string, effect: Spec<"wait">): void => {
  const { ref, request } = row.call;
  draft.raise({ type: "wait.open", key: effect.wait, waiter: { call: ref, effect: key }, request });
  if (effect.signal !== undefined) draft.raise({ type: "process.wait", key: effect.wait, ...effect.signal });
};

/** A message of one who may not send it is refused here, and goes nowhere: its own request is then its answer. */
const sendMessage = (draft: Draft, row: CallIn<"running">, key: string, effect: Spec<"message">): void => {
  const { ref, request } = row.call;
  const { to, message, holder } = effect;
  if (holder !== undefined && handleMisfit(draft, holder, processOfScope(to), message.type) !== undefined) {
    return draft.raise({ type: "effect.end", call: ref, key, status: "err", value: draft.seq });
  }
  if (message.type === "process.await") draft.raise({ type: "wait.claim", key: message.wait, request });
  const origin = { call: ref, key, requested: draft.seq };
  return draft.raise({ type: "messages.send", to, message, isLast: false, origin });
};

/** The host request that a trigger is. */
const triggerRequest = "trigger.emit";

/** Asks it. */
export const perform = (draft: Draft, row: CallIn<"running">, { key, effect, attempt, run }: Requested): void => {
  const { ref, name, request } = row.call;
  switch (effect.kind) {
    case "wait":
      return openWait(draft, row, key, effect);
    case "message":
      return sendMessage(draft, row, key, effect);
    case "event":
      return draft.raise({ type: "process.emit", call: ref, key, effect });
    case "host":
      return draft.emit({ type: "host.request", call: ref, attempt, run, key, name: effect.name, input: effect.input });
    case "trigger":
      return draft.emit({
        type: "host.request",
        call: ref,
        attempt,
        run,
        key,
        name: triggerRequest,
        input: effect.input,
      });
    case "batch": {
      const calls = effect.calls.map((call) => ({ ...call, by_id: true }));
      const parent = { call: ref, effect: key };
      return draft.raise({
        type: "batch.create",
        ref: effectBatch(ref, key),
        request,
        prefix: `${name}/${key}/`,
        parent,
        calls,
      });
    }
    case "step":
    case "sleep":
    case "cleanup":
    case "select":
      return undefined;
  }
};

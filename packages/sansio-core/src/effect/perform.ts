/** What waits and messages of a body ask of other concerns. */
import type { CallIn } from "../call/model.ts";
import type { Draft } from "../draft.ts";
import { handleMisfit } from "../handle/read.ts";
import { processOfScope } from "../key/process.ts";
import type { EffectSpec } from "./model.ts";

type Spec<K extends EffectSpec["kind"]> = Extract<EffectSpec, { readonly kind: K }>;

export const openWait = (draft: Draft, row: CallIn<"running">, key: string, effect: Spec<"wait">): void => {
  const { ref, request } = row.call;
  draft.raise({ type: "wait.open", key: effect.wait, waiter: { call: ref, effect: key }, request });
  if (effect.signal !== undefined) draft.raise({ type: "process.wait", key: effect.wait, ...effect.signal });
};

/** A message of one who may not send it is refused here, and goes nowhere: its own request is then its answer. */
export const sendMessage = (draft: Draft, row: CallIn<"running">, key: string, effect: Spec<"message">): void => {
  const { ref, request } = row.call;
  const { to, message, holder } = effect;
  if (holder !== undefined && handleMisfit(draft, holder, processOfScope(to), message.type) !== undefined) {
    return draft.raise({ type: "effect.end", call: ref, key, status: "err", value: draft.seq });
  }
  if (message.type === "process.await") draft.raise({ type: "wait.claim", key: message.wait, request });
  const origin = { call: ref, key, requested: draft.seq };
  return draft.raise({ type: "messages.send", to, message, isLast: false, origin });
};

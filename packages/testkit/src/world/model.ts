/**
 * A scripted model outside of the processes, which counts what is paid. Its provider keeps what it was paid for: a question
 * under a key that was answered has the same answer again, and is not paid again.
 */
import type { ModelAnswer, ModelCall, ModelPort } from "@pawl/runtime/driver";
import type { Outside } from "./scenario.ts";

export interface ScriptedModelOptions {
  /** Names the effect that is paid: `answer` by default. */
  readonly effect?: string | ((call: ModelCall) => string);
  /** Pause before each piece of an answer, in virtual time: a process can die between two of them. */
  readonly pieceMs?: number;
}

/** Decides an answer by what the model is shown. It is asked once for each key, and may throw a `ModelError`. */
export type ModelScript = (call: ModelCall) => ModelAnswer;

/** Makes the port of a model that answers as a script says, piece by piece. */
export const scriptedModel = (
  { effect, sleep }: Outside,
  script: ModelScript,
  { effect: named = "answer", pieceMs = 0 }: ScriptedModelOptions = {},
): ModelPort => ({
  ask: async (call) => {
    const name = typeof named === "string" ? named : named(call);
    const { detail } = await effect(name, { key: call.key, detail: script(call) });
    const { pieces, ...answer } = detail as unknown as ModelAnswer;
    for (const piece of pieces) {
      if (pieceMs > 0) await sleep(pieceMs);
      if (call.signal.aborted) break;
      call.say(piece);
    }
    if (call.signal.aborted) throw call.signal.reason;
    return { ...answer, pieces: [] };
  },
});

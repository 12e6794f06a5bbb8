/**
 * `@pawl/agent/ai-sdk`: the models of the AI SDK's provider packages, versions 2 to 4 of their specification. A model is asked
 * once an attempt: it has no loop and no retries of its own here, for the core decides what follows.
 */
import type { ModelAnswer, ModelCall } from "@pawl/runtime/driver";
import type { AgentModel, ModelOptions } from "../model.ts";
import { AnswerTaker } from "./answer.ts";
import { failureOf } from "./failure.ts";
import { sdkOptions } from "./prompt.ts";
import { type AiSdkModel, type Stream, fieldsOf } from "./shape.ts";

export type { AiSdkModel } from "./shape.ts";

export interface AiSdkOptions extends ModelOptions {
  /** False asks for the whole answer at once. */
  readonly stream?: boolean;
  /** The header that tells the provider the key of the attempt. Default: `Idempotency-Key`; false sends none. */
  readonly idempotencyHeader?: string | false;
}

/** Reads a stream to its end. One that is left before that is cancelled, so that nothing more is paid. */
const readStream = async (stream: Stream, taker: AnswerTaker): Promise<void> => {
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) await taker.take(fieldsOf(next.value));
    isDone = true;
  } finally {
    if (!isDone) await reader.cancel().catch(() => undefined); // The read has failed already.
  }
};

/** Makes a model of an agent out of one of the AI SDK: `aiSdkModel(openai("gpt-5"))`. */
export const aiSdkModel = (model: AiSdkModel, options: AiSdkOptions = {}): AgentModel => {
  const { stream = true, idempotencyHeader = "Idempotency-Key", ...how } = options;
  const ask = async (call: ModelCall): Promise<ModelAnswer> => {
    const taker = new AnswerTaker(call);
    try {
      const given = await sdkOptions(model.specificationVersion, call);
      const headers = idempotencyHeader === false ? {} : { headers: { [idempotencyHeader]: call.key } };
      const asked = { ...given, ...headers } as never; // The shape of its version, which the type cannot say.
      if (stream) await readStream((await model.doStream(asked)).stream, taker);
      else await taker.takeWhole(fieldsOf(await model.doGenerate(asked)));
      return taker.answer();
    } catch (thrown) {
      throw failureOf(thrown, Date.now());
    }
  };
  return { ...how, provider: model.provider, model: model.modelId, port: { ask } };
};

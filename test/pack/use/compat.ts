import { RuntimeEffectEnvelope, effectEnvelope, stepInvocation } from "@pawl/compat";
import { stringifyRecord } from "@pawl/tool-value";

const invocation = stepInvocation({ sessionId: "s", scopeId: "t", callId: "c" }, "book");
const envelope = effectEnvelope(invocation, { type: "durable_step", step_id: "book", input: null });
console.log(stringifyRecord(RuntimeEffectEnvelope.encode(envelope).command), envelope.invocation.replay?.key);

import { RuntimeEffectEnvelope, effectEnvelope, stepInvocation } from "@pawl/compat";

const invocation = stepInvocation({ sessionId: "s", scopeId: "t", callId: "c" }, "book");
const envelope = effectEnvelope(invocation, { type: "durable_step", step_id: "book", input: null });
console.log(RuntimeEffectEnvelope.is(envelope), envelope.invocation.replay?.key);

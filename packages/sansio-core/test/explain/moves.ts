/** The events that a reason names, made from nothing but the reason: whoever reads it can make the call go on. */
import { successOutput } from "@pawl/tool-value";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { CallReason, EffectReason, OtherReason } from "../../src/explain/model.ts";

const resolution = { status: "ok", payload: 1 } as const;
const output = successOutput("done");

export const eventOfCall = ({ call, what, movedBy }: CallReason): Event | undefined => {
  switch (what.type) {
    case "hook":
      return { type: "hook.ran", call, phase: what.phase, outcome: { status: "ok", directives: [] } };
    case "args_check":
      return { type: "args.checked", call, args_hash: "h", verdict: { verdict: "valid" } };
    case "preparation": {
      const preparation = { type: "finished", output } as const;
      return { type: "call.prepared", call, preparation };
    }
    case "approval":
      return { type: "approval.decided", call, decision: { type: "approve" }, args_hash: what.argsHash, by: "p" };
    case "body":
    case "clean_up":
    case "stop": {
      const { attempt, run } = what;
      if (movedBy.length === 0) return undefined; // It waits for its effects.
      return { type: "call.settled", call, attempt, run, result: { type: "done", output }, duration_ms: 1 };
    }
    case "resume": {
      const { attempt, run, cause } = what;
      return { type: "call.resumed", call, attempt, run, cause, owner: "d9" };
    }
    case "executor":
      return { type: "executors.available", tools: [what.toolId] };
    case "resolver":
      return { type: "outcome.resolved", call, resolved: { type: "give_up" } };
    case "completion":
      return { type: "wait.resolved", key: what.key, resolution };
    case "projection":
      return { type: "result.projected", call, parts: [] };
    default:
      return undefined;
  }
};

export const eventOfEffect = (
  { call, what }: CallReason,
  { key, what: waits, since, until }: EffectReason,
  protocol: number,
): Event | undefined => {
  const result = { status: "ok", value: 1 } as const;
  switch (waits.kind) {
    case "step":
      if (what.type !== "body" && what.type !== "stop" && what.type !== "clean_up") return undefined;
      if (until !== undefined) return undefined; // Between two tries.
      return {
        type: "step.settled",
        call,
        attempt: what.attempt,
        run: what.run,
        key,
        result,
        ...(waits.try === undefined ? {} : { try: waits.try }),
      };
    case "wait":
      return { type: "wait.resolved", key: waits.wait, resolution };
    case "host":
    case "trigger":
      return {
        type: "host.answered",
        call,
        key,
        result,
        ...(protocol === 1 ? {} : { seq: since, hash: waits.hash }),
      };
    case "message": {
      const outcome = { status: "accepted", value: null } as const;
      return waits.sent === undefined
        ? undefined
        : { type: "message.answered", to: waits.to, link: waits.sent.link, number: waits.sent.number, outcome };
    }
    default:
      return undefined;
  }
};

export const eventOfOther = ({ what }: OtherReason): Event | undefined => {
  switch (what.type) {
    case "move":
      return { type: "scope.kept", nonce: what.nonce };
    case "reply":
      return { type: "reply.acked", request: what.request };
    case "lambda":
      return { type: "lambda.applied", request: what.request, id: what.id, result: { status: "ok", output: "x" } };
    case "external_cancel":
      return { type: "external.cancel_acked", key: what.key };
    case "telling":
      return { type: "session.told", key: what.key };
    case "permit":
      return { type: "permit.answered", run: what.run, permit: { status: "granted" } };
    case "artifacts":
      return { type: "artifacts.written", attempt: what.attempt, written: true };
    case "schedule":
      return { type: "schedule.cancelled", schedule: what.schedule };
    case "planning": {
      const { schedule, after } = what;
      return { type: "schedule.planned", schedule, after, plan: { status: "none", message: "no such time" } };
    }
    case "probe":
      return { type: "probe.answered", schedule: what.schedule, fire: what.fire, outcome: { type: "skipped" } };
    case "wake":
      return { type: "wake.acked", key: what.key };
    case "message": {
      const { to, link, number } = what;
      return { type: "message.answered", to, link, number, outcome: { status: "accepted", value: null } };
    }
    case "environment":
      return { type: "catalog.published", tools: [] };
    case "turn_queued":
      return { type: "request.cancelled", request: what.request };
    case "agent":
      return { type: "agent.missing", agent: what.agent };
    case "model": {
      const { request, n, attempt } = what;
      const prompt = { messages: 1, hash: "0" };
      return { type: "model.failed", request, n, attempt, class: "invalid_request", message: "no", prompt, ms: 1 };
    }
    case "model_stop": {
      const { request, n, attempt } = what;
      return { type: "model.stopped", request, n, attempt, pieces: [] };
    }
    case "model_pause":
      return { type: "request.cancelled", request: what.request };
    case "model_outcome": {
      const { request, n, attempt } = what;
      return { type: "model.resolved", request, n, attempt, outcome: { type: "give_up" } };
    }
    case "turn_check":
      return { type: "turn.checked", request: what.request, n: what.n, verdict: { type: "end", reason: "enough" } };
    case "budget":
      return { type: "budget.decided", ask: what.ask, decision: "stop", by: "p" };
    default:
      return undefined;
  }
};

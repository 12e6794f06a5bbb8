/** Any well-typed event, which may name what is there, what was there, and what never was. */
import type { EffectSpec } from "../../src/call/effect/effect.ts";
import type { Event, EventType, State } from "../../src/kernel/vocabulary.ts";
import type { Dice } from "./dice.ts";
import { anyLambdaResult, anySubmission, askedLambda, unbuilt } from "./flow.ts";
import { longWorkMakers } from "./background.ts";
import { turnMakers } from "./turn.ts";
import { type Make, Names } from "./names.ts";
import { linkMakers, peers } from "./wild-link.ts";
import { anyJson, anyMs, anyOutput, anyPending, anyResolution, anyResult, anyText } from "./value.ts";
import { anyTool, toolNames, wildOptions } from "./world.ts";

const spec = (names: Names, call: string): EffectSpec => {
  const { dice } = names;
  const childId = (): string => dice.pick(["x", "y", "x/k1/y", "", "x"]);
  return dice.pick<() => EffectSpec>([
    () => ({ kind: "step", recovery: dice.pick(["again", "idempotent", "once"]), input: anyJson(dice) }),
    () => ({ kind: "step", recovery: "again", input: null, stream: { name: dice.pick(["a", "b/%", ""]) } }),
    () => ({ kind: "sleep", ms: anyMs(dice) }),
    () => ({ kind: "cleanup", deadline_ms: anyMs(dice) }),
    () => ({ kind: "wait", wait: names.wait(), deadline_ms: anyMs(dice) }),
    () => ({ kind: "wait", wait: names.wait(), own: dice.pick(["life", "call"]) }),
    () => ({ kind: "host", name: anyText(dice), input: anyJson(dice) }),
    () => ({ kind: "trigger", input: anyJson(dice) }),
    () => ({
      kind: "batch",
      calls: dice.list(3, () => ({ id: childId(), tool: `tool:${names.tool()}`, args: anyJson(dice) })),
    }),
    () => ({
      kind: "select",
      mode: dice.pick(["race", "any", "all", "all_settled"]),
      keys: dice.list(2, () => names.effect(call)),
    }),
  ])();
};

const makers: { readonly [T in EventType]: Make<T> } = {
  "scope.opened": ({ dice, state: { scope } }) => ({
    epoch: scope.epoch + dice.below(3),
    owner: anyText(dice),
    protocol: dice.pick([scope.protocol, scope.protocol, 0, 3]),
    options: wildOptions(dice),
    ...dice.pick([{}, { last_owner: "lost" }, { last_owner: "released" }] as const),
  }),
  "scope.configured": ({ dice }) => ({
    options: { ...wildOptions(dice), ...dice.pick([{}, { concurrency: 0 }, { expire_at_once: 0 }]) },
  }),
  "scope.upgraded": ({ dice }) => ({ to: dice.below(4) }),
  "scope.moving": ({ dice }) => ({ to: anyText(dice), nonce: dice.pick(["n", "m"]) }),
  "scope.received": ({ dice, state: { scope } }) => ({ nonce: "n", epoch: scope.epoch + dice.below(2), owner: "d5" }),
  "scope.moved": ({ dice }) => ({ nonce: dice.pick(["n", "m"]) }),
  "scope.kept": ({ dice }) => ({ nonce: dice.pick(["n", "m"]) }),
  "owner.lost": ({ dice }) => ({
    owner: dice.pick(["d1", "d2", "worker:1", "executor:x", ""]),
    ...dice.pick([{}, { went: "lost" }, { went: "released" }] as const),
  }),
  "clock.ticked": () => ({}),
  "catalog.published": ({ dice, state: { catalog } }) => ({
    // A tool keeps its policy: a stricter one in mid-call is a question that is open.
    tools: toolNames.map((name) => ({ ...anyTool(dice, name), policy: catalog.byName.get(name)?.policy ?? "auto" })),
  }),
  "catalog.overridden": (names) => ({
    names: names.dice.list(2, () => names.tool()),
    availability: names.dice.pick(["off", "searchable", "callable", null]),
  }),
  "scope.described": ({ dice }) => ({
    ...dice.pick([{}, { title: anyText(dice) }]),
    ...dice.pick([{}, { tags: dice.list(2, () => anyText(dice)) }]),
    ...dice.pick([{}, { own_tools: true }, { own_tools: false }]),
  }),
  "value.kept": ({ dice }) => ({
    key: dice.pick(["a", "b", " "]),
    ...dice.pick([{}, { value: anyJson(dice) }]),
  }),
  "secret.kept": ({ dice }) => ({
    name: dice.pick(["a", "b", " "]),
    ...dice.pick([{}, { digest: anyText(dice), sealed: anyJson(dice) }]),
  }),
  "request.submitted": (names) => ({
    request: names.request(),
    hash: names.dice.pick(["h", "g"]),
    calls: names.dice.list(3, () => ({
      id: names.dice.pick(["a", "b", "a/k1/x", "a/k1", "", "c"]),
      tool: names.tool(),
      args: anyJson(names.dice),
    })),
  }),
  "request.cancelled": (names) => ({ request: names.request(), ...names.by() }),
  "reply.acked": (names) => ({ request: names.request() }),
  "hook.ran": (names) => ({
    call: names.call(),
    phase: names.dice.pick(["before", "after"]),
    outcome: { status: "err", message: anyText(names.dice) },
  }),
  "place.granted": (names) => ({ call: names.call(), attempt: 1 }),
  "args.checked": (names) => ({ call: names.call(), verdict: { verdict: "valid" } }),
  "call.prepared": (names) => ({
    call: names.call(),
    preparation: { type: "finished", output: anyOutput(names.dice) },
  }),
  "call.dispatched": (names) => ({ ...names.run(), owner: anyText(names.dice), key: names.wait() }),
  "call.settled": (names) => ({
    ...names.run(),
    result: { type: "pending", key: names.wait(), pending: anyPending(names.dice) },
    duration_ms: anyMs(names.dice),
    ...(names.dice.isUnder(10) ? { left: names.dice.list(2, () => "k1") } : {}),
  }),
  "call.settled_late": (names) => ({ ...names.run(), output: anyOutput(names.dice), duration_ms: 1 }),
  "call.suspended": (names) => ({
    ...names.run(),
    ...names.dice.pick([{ parked: names.wait() }, { link: names.dice.pick(peers) }, {}]),
  }),
  "host.waiting": (names) => {
    const call = names.call();
    const key = names.effect(call);
    return { call, key, seq: names.requested(call, key), name: "ask", input: null };
  },
  "call.tool_missing": (names) => ({ call: names.call() }),
  "call.resumed": (names) => ({ ...names.run(), cause: "run_again", owner: anyText(names.dice) }),
  "call.continued": (names) => ({
    ...names.run(),
    args: anyJson(names.dice),
    ...names.dice.pick([{}, { args_hash: "ha" }]),
  }),
  "call.diverged": (names) => ({ ...names.run(), position: 0, expected: "", found: anyText(names.dice) }),
  "call.cleaned_up": (names) => names.run(),
  "call.executor_missing": (names) => names.run(),
  "executors.available": (names) => ({ tools: names.dice.list(8, () => `tool:${names.tool()}`) }),
  "call.cancelled": (names) => ({ call: names.call(), ...names.by() }),
  "outcome.resolved": (names) => ({ call: names.call(), resolved: { type: "run_again" }, ...names.by() }),
  "result.projected": (names) => ({ call: names.call(), parts: anyJson(names.dice) }),
  "approval.decided": (names) => ({
    call: names.call(),
    decision: names.dice.pick([{ type: "approve" }, { type: "approve_edited", args: null }]),
    args_hash: names.dice.pick(["ha", "", "ha"]),
    by: anyText(names.dice),
  }),
  "effect.requested": (names) => {
    const of = names.run();
    const key = names.dice.pick(["k1", "k1/x", "k2", ""]);
    return { ...of, key, hash: "h", effect: spec(names, of.call) };
  },
  "step.settled": (names) => {
    const of = names.run();
    const tried = names.dice.isUnder(20) ? { try: names.dice.below(4) } : {};
    return { ...of, key: names.effect(of.call), result: anyResult(names.dice), ...tried };
  },
  "step.failed": (names) => {
    const of = names.run();
    const error = { code: "busy", message: anyText(names.dice) };
    return { ...of, key: names.effect(of.call), try: names.dice.below(4), error, retry_in_ms: anyMs(names.dice) };
  },
  "stream.recorded": (names) => ({ ...names.stream(), chunks: names.dice.list(3, () => anyJson(names.dice)) }),
  "stream.reset": (names) => ({ ...names.stream(), ...names.dice.pick([{}, { keep: names.dice.below(4) }]) }),
  "host.answered": (names) => {
    const call = names.call();
    const named = names.dice.isUnder(20) ? { seq: names.dice.below(9), hash: "h" } : {};
    const keeps = names.dice.isUnder(10) ? { keeps: { key: "a", value: anyJson(names.dice) } } : {};
    return { call, key: names.effect(call), result: anyResult(names.dice), ...named, ...keeps };
  },
  "replies.recorded": (names) => {
    const call = names.call();
    return { call, key: names.effect(call), replies: [], triggers: [] };
  },
  "effect.reused": (names) => {
    const { call, attempt } = names.run();
    return { call, attempt, key: names.dice.pick(["k1", "k2", "k3", "k4"]) };
  },
  "wait.resolved": (names) => ({
    key: names.wait(),
    resolution: anyResolution(names.dice),
    ...names.by(),
    ...names.dice.pick([{}, { call: names.call() }, { call: names.call(), life: names.dice.below(3) }]),
  }),
  "wait.cancelled": (names) => {
    const call = names.call();
    return { call, key: names.effect(call) };
  },
  "wait.revoked": (names) => ({ keys: names.dice.list(3, () => names.wait()) }),
  "external.cancel_acked": (names) => ({ key: names.wait() }),
  "wake.acked": (names) => ({ key: names.wait() }),
  "flow.submitted": (names) => {
    const hash = names.dice.pick(["h", "g"]);
    const submission = { request: names.request(), hash, ...anySubmission(names.dice) };
    if (names.dice.isUnder(80)) return submission;
    return { ...submission, flow: { ...submission.flow, nodes: [unbuilt] } };
  },
  "lambda.applied": ({ dice, state }) => {
    const asked = dice.isUnder(70) ? askedLambda(dice, state) : undefined;
    const request = dice.pick(["nobody", ...state.flows.keys()]);
    return { request, id: anyText(dice), ...asked, result: anyLambdaResult(dice) };
  },
  "flow.consumer_gone": ({ dice, state }) => ({ request: dice.pick(["nobody", ...state.flows.keys()]) }),
  ...linkMakers,
  ...longWorkMakers,
  ...turnMakers,
};

export const eventTypes = Object.keys(makers) as readonly EventType[];

/** What would leave nothing to look at is left to chance less often than the rest. */
const rare: ReadonlySet<EventType> = new Set([
  "scope.moving",
  "scope.moved",
  "catalog.published",
  "scope.configured",
  "session.deleted",
]);

export const wild = (dice: Dice, state: State): Event => {
  const type = dice.pick(eventTypes);
  const chosen = rare.has(type) && dice.isUnder(70) ? "call.cancelled" : type;
  return { type: chosen, ...makers[chosen](new Names(dice, state)) } as Event;
};

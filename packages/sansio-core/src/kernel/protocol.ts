/**
 * Behaviour belongs to the log, not to the build. Each rule that differs between protocols stands here, with the first
 * protocol that has it. A scope follows the rules of its own protocol until a recorded `scope.upgraded` raises it.
 * Golden logs hold the old behaviour and the new.
 */

import { type Rejection, reject } from "./error.ts";

/** The newest protocol that this core knows. Scopes of a newer one are refused before they are claimed. */
export const newestProtocol: number = 2;

/** The protocol of new scopes, unless their runtime keeps to an older one. */
export const currentProtocol: number = newestProtocol;

export const isKnownProtocol = (protocol: number): boolean => protocol >= 1 && protocol <= newestProtocol;

/** Says that a core is too old for a log, a state or an event. */
export const unknownProtocol = (protocol: number): string =>
  `expected a protocol from 1 to ${newestProtocol}, found ${protocol}: install the release that brought it, or a later one`;

const firstProtocol = {
  /** R1: `continueAs` begins a new life of the call, and a body's identities hold the life. */
  lives: 2,
  /** R2: `ctx.now()` is the time of the event whose answer was handed last. */
  now_from_log: 2,
  /** Links: a message says the protocol of its sender, so that the next one may have what both ends know. */
  link_protocols: 2,
  /** R3: a call that diverged is parked, and another version of its tool heals it. */
  parked_divergence: 2,
  /** R4, R14: losses of an owner without progress are counted and paused; the end of a crash loop has a cause. */
  crash_loops: 2,
  /** R5: an answer of the host names the request that it answers. */
  host_answer_names_request: 2,
  /** R7: a call in preparation waits while its tool is away. */
  absent_tool_waits: 2,
  /** R8: a `once` step of unknown outcome is answered in its place in the log. */
  unknown_step_in_place: 2,
  /** R10, R11: a lost background run is known by a field, and a rerunnable one begins again. */
  lost_runs: 2,
  /** R12: an ended task keeps its last detail and progress. */
  task_keeps_detail: 2,
  /** A scope has a title, tags and small values, and may have tools of its own. */
  about: 2,
  /** Observers are told of the decision on a parked call. */
  decisions_observed: 2,
  /** R12: the reply of a request has the trigger occurrences of all calls below it. */
  nested_triggers: 2,
  /** R9, R13: a body that waits only for recorded answers is suspended, whatever it waits for. */
  suspends_every_wait: 2,
  /** The message of a process event that is not taken begins as the specification has it. */
  event_refusal_prefix: 2,
  /** R15: the end of a body waits for its effects. */
  waits_for_effects: 2,
  /** R16: `ctx.patched` lets new code live beside its older self. */
  patches: 2,
  /** R17: retries and timeouts of a step are on record. */
  step_retries: 2,
  /** Results of steps are values that JSON has not, and what a step threw is on record beside its error. */
  kept_values: 2,
  /** `ctx.approve`: a body asks a person, whose decision is on record. */
  asked_approvals: 2,
  /** The loop around the model is the core's. */
  turns: 2,
  /** A step may be a stream, whose chunks are on record in groups. */
  streams: 2,
  /** The preparation of a call may find that it needs no approval. */
  waived_approvals: 2,
  /** A schedule may have an interval in place of a cron expression. */
  intervals: 2,
  /** The acknowledgement of a reply says how its request has ended, and where it was submitted. */
  ended_requests: 2,
  /** A step prepares and launches so many calls of a batch and no more; the next step goes on. */
  large_batches: 2,
  /** A call of a tool with a queue waits there for a place before its body begins, and a request has a priority. */
  queues: 2,
} as const;

export type ProtocolRule = keyof typeof firstProtocol;

/** Tells whether scopes of a protocol have a rule. */
export const hasRule = (protocol: number, rule: ProtocolRule): boolean => protocol >= firstProtocol[rule];

/** Refuses what a scope of an older protocol does not have, with what has to happen before it does. */
export const missingRule = (protocol: number, rule: ProtocolRule, what: string): Rejection | undefined => {
  if (hasRule(protocol, rule)) return undefined;
  const message =
    `${what} needs protocol ${firstProtocol[rule]}, and this scope is of protocol ${protocol}: it is upgraded when it is ` +
    `opened next by a runtime with \`upgrade: "auto"\`, once every live instance of its store knows the newer protocol`;
  return reject("needs_protocol_2", message);
};

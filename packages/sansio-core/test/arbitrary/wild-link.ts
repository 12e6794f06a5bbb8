/** Any event of links, handles and processes. */
import type { Json } from "@pawl/tool-value";
import type { EventType } from "../../src/kernel/vocabulary.ts";
import { eventPayloadHash, registrationHash } from "../../src/process/hash.ts";
import type { SessionScope } from "../../src/identity/scope.ts";
import type { Asking, GrantedHandle, Message, Outcome } from "../../src/message/message.ts";
import type { ProcessEventAppendRequest, ProcessRegistration } from "../../src/process/model.ts";
import { checkRegistration } from "../../src/process/registration.ts";
import { eventType, registration, request, right } from "../process/world.ts";
import { anyRun, anyUpdate } from "./background.ts";
import type { Dice } from "./dice.ts";
import { anyJson, anyText } from "./value.ts";
import type { Make, Names } from "./names.ts";

export const peers = ["session:s", "session:t", "process:p1", "process:p2"] as const;
const processes = ["p1", "p2"] as const;

const anyHolder = (dice: Dice): SessionScope =>
  dice.pick([{ session_id: "s" }, { session_id: "s", agent_frame_id: "f" }, { session_id: "t" }]);

const inputs: readonly Partial<ProcessRegistration>[] = [
  { env_ref: "process-env:sha256:0", identity: { kind: "tool", label: "t0" }, input: callOf("t0") },
  { env_ref: "process-env:sha256:0", identity: { kind: "tool", label: "t1" }, input: callOf("t1") },
  { env_ref: "process-env:sha256:0", identity: { kind: "e" }, input: { type: "engine", kind: "e", payload: null } },
  {},
];
const isRun = 30;

function callOf(tool: string): ProcessRegistration["input"] {
  const call = { call_id: "c", tool_id: `tool:${tool}`, tool_name: tool, args: { n: 1 }, prepared_payload: null };
  return { type: "tool_call", call };
}

export const anyRegistration = (dice: Dice): { readonly registration: ProcessRegistration; readonly hash: string } => {
  const wake_target = dice.maybe(50, () => anyHolder(dice));
  const woken = { wake: { input: "payload", dedupe_key: "event_identity" } } as const;
  const types = [eventType("note", dice.isUnder(50) ? woken : {}), eventType("signal.go")];
  const more = { ...dice.pick(inputs), ...(wake_target === undefined ? {} : { wake_target }) };
  if (dice.isUnder(isRun)) return anyRun(dice);
  const completed = right(checkRegistration(registration(types, { id: dice.pick(["p1", "p1", "p2"]), ...more })));
  return { registration: completed, hash: registrationHash(completed) };
};

interface Append {
  readonly request: ProcessEventAppendRequest;
  readonly payload_hash: string;
}

export const anyAppend = (dice: Dice): Append => {
  const ends = { await_output: { type: "success", value: 1 } };
  const [type, payload] = dice.pick<readonly [string, Json]>([
    ["note", anyJson(dice)],
    ["note", anyJson(dice)],
    ["signal.go", anyJson(dice)],
    ["unheard", null],
    ["process.completed", ends],
    ["process.cancel_requested", { reason: "r" }],
  ]);
  const key = dice.isUnder(70) ? dice.pick(["a", "b", "c"]) : undefined;
  return { request: request(type, payload, key), payload_hash: eventPayloadHash(type, payload).hash };
};

export const anyAsking = (dice: Dice): Asking => {
  switch (dice.below(6)) {
    case 0:
    case 1:
      return { type: "process.start", ...anyRegistration(dice) };
    case 2: {
      const payload = anyJson(dice);
      const payload_hash = eventPayloadHash("signal.go", payload).hash;
      return { type: "process.signal", name: "go", signal_id: dice.pick(["s1", "s2"]), payload, payload_hash };
    }
    case 3:
      return { type: "process.append", ...anyAppend(dice) };
    case 4: {
      const reason = dice.pick([null, "r"]);
      const payload_hash = eventPayloadHash("process.cancel_requested", { reason }).hash;
      return { type: "process.cancel", reason, payload_hash };
    }
    default:
      return { type: "process.await", wait: dice.pick(["w0", "w1"]) };
  }
};

const anyGrant = (dice: Dice): GrantedHandle => ({
  holder: anyHolder(dice),
  process: dice.pick(processes),
  descriptor: dice.pick([{}, { kind: "tool", label: "x" }]),
  status: dice.pick(["running", "running", "completed"]),
});

const anyMessage = (dice: Dice): Message => {
  switch (dice.below(9)) {
    case 8:
      return dice.isUnder(50) ? { type: "handle.held", held: dice.isUnder(50) } : { type: "session.deleted" };
    case 0:
      return { type: "handle.granted", ...anyGrant(dice) };
    case 1: {
      const wake = {
        target: { session_id: "s" },
        process_id: "p1",
        sequence: 1,
        event_type: "note",
        input: "i",
        dedupe_key: "k",
      };
      return { type: "process.woke", wake };
    }
    case 2: {
      const of = { process: dice.pick(processes), hash: "h", state: "completed" } as const;
      return {
        type: "process.ended",
        ...of,
        waits: dice.list(2, () => dice.pick(["w0", "w1"])),
        output: anyJson(dice),
      };
    }
    case 3:
      return { type: "link.closed" };
    case 4:
      return {
        type: "task.reported",
        task: dice.pick(["task_1", "task_2"]),
        run: dice.pick(processes),
        update: anyUpdate(dice),
      };
    default:
      return anyAsking(dice);
  }
};

const anyOutcome = (dice: Dice): Outcome =>
  dice.isUnder(70)
    ? { status: "accepted", value: dice.isUnder(50) ? { status: "running", preserved: true } : anyJson(dice) }
    : { status: "refused", code: dice.pick(["process_unknown", "session_deleted"]), message: anyText(dice) };

/** A number that a link expects, or one beside it. */
const received: Make<"message.received"> = ({ dice, state }: Names) => {
  const from = dice.pick(peers);
  const end = state.links.get(from)?.incoming;
  const link = (end?.link ?? 1) + dice.pick([0, 0, 0, 1]);
  const number = (end?.received ?? 0) + dice.pick([0, 1, 1, 1, 1, 2]);
  const known = dice.isUnder(10) ? { known: true } : {};
  return { from, link, number, heard: Math.max(0, number - 1 - dice.below(2)), message: anyMessage(dice), ...known };
};

const answered: Make<"message.answered"> = ({ dice, state }: Names) => {
  const to = dice.pick(peers);
  const end = state.links.get(to)?.outgoing;
  const numbers = [...(end?.unanswered.keys() ?? [])];
  const number = numbers.length > 0 && dice.isUnder(90) ? dice.pick(numbers) : 1;
  return { to, link: (end?.link ?? 1) + dice.pick([0, 0, 0, 0, 1]), number, outcome: anyOutcome(dice) };
};

type LinkEventType = Extract<
  EventType,
  `handle${string}` | `link.${string}` | `message.${string}` | `process.${string}` | "session.deleted"
>;

export const linkMakers: { readonly [T in LinkEventType]: Make<T> } = {
  "handle.granted": ({ dice }) => anyGrant(dice),
  "handles.transferred": ({ dice }) => ({
    from: anyHolder(dice),
    to: anyHolder(dice),
    processes: dice.list(2, () => dice.pick(processes)),
  }),
  "handles.revoked": ({ dice }) => ({ holder: anyHolder(dice) }),
  "session.deleted": () => ({}),
  "link.retired": ({ dice }) => ({ peer: dice.pick(peers) }),
  "message.received": received,
  "message.answered": answered,
  "process.registered": ({ dice }) => anyRegistration(dice),
  "process.event_appended": ({ dice }) => anyAppend(dice),
};

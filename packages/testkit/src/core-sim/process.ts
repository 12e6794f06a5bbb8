/** The process of the core simulation: its registrations, requests to it, and its events. */
import type { EventOf } from "@pawl/sansio-core";
import {
  type Asking,
  type ProcessEventAppendRequest,
  cancelKey,
  completeRegistration,
  eventPayloadHash,
  registrationHash,
  runKind,
  terminalKey,
} from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { Dice } from "./random.ts";

export const processId = "p1";
export const processScopeId = `process:${processId}`;
export const sessions = ["s", "t"] as const;
export const sessionScopes = sessions.map((id) => `session:${id}`);

type Registration = EventOf<"process.registered">["registration"];
type SessionScope = EventOf<"handle.granted">["holder"];

interface Registered {
  readonly registration: Registration;
  readonly hash: string;
}

const type = (name: string, semantics: Registration["event_types"][number]["semantics"]) => ({
  name,
  payload_schema: { schema: {} },
  semantics,
});
const wake = { wake: { input: "payload", dedupe_key: "event_identity" } } as const;

const inputs: readonly Pick<Registration, "input" | "identity" | "env_ref">[] = [
  ...["t0", "t2"].map((tool) => ({
    env_ref: "process-env:sha256:0",
    identity: { kind: "tool", label: tool },
    input: {
      type: "tool_call",
      call: { call_id: "c", tool_id: `tool:${tool}`, tool_name: tool, args: { p: 11 }, prepared_payload: null },
    } as const,
  })),
  {
    env_ref: "process-env:sha256:0",
    identity: { kind: "e" },
    input: { type: "engine", kind: "e", payload: null },
  },
  { identity: { kind: "external" }, input: { type: "external", metadata: null } },
];

const holders: readonly SessionScope[] = [
  { session_id: "s" },
  { session_id: "s", agent_frame_id: "f" },
  { session_id: "t" },
];
export const anyHolder = (dice: Dice): SessionScope => dice.pick(holders);
export const holderOf = (scope: string): SessionScope => ({ session_id: scope.slice("session:".length) });

const registered = (of: (typeof inputs)[number], target: SessionScope | undefined): Registered => {
  const registration = completeRegistration({
    id: processId,
    ...of,
    event_types: [type("note", wake), type("signal.go", {})],
    provenance: { originator: { type: "host" } },
    ...(target === undefined ? {} : { wake_target: target }),
  });
  return { registration, hash: registrationHash(registration) };
};

/** The process as a background run of one of two tasks. */
const runs: readonly Registered[] = ["task_0a", "task_0b"].flatMap((task) =>
  [true, false].map((reattachable) => {
    const definition = { task, tool: "t0", arguments: null, reattachable, signal_on_completion: reattachable };
    const tool = inputs[0] as (typeof inputs)[number];
    return registered({ ...tool, identity: { kind: runKind, label: "Job", definition } }, undefined);
  }),
);
export const anyRun = (dice: Dice): Registered => dice.pick(runs);

/** All registrations, made once because hashing is slow. */
const registrations: readonly (readonly Registered[])[] = inputs.map((of) =>
  [undefined, ...holders].map((target) => registered(of, target)),
);

/** Returns a registration. Most seeds ask for one kind of process, `kind`. */
export const anyRegistration = (dice: Dice, kind: number): Registered =>
  dice.pick(registrations[dice.isUnder(90) ? kind % inputs.length : dice.below(inputs.length)] ?? []);

const hashes = new Map<string, string>();
const hashOf = (name: string, eventType: string, payload: Json): string => {
  const known = hashes.get(`${eventType} ${name}`);
  if (known !== undefined) return known;
  const { hash } = eventPayloadHash(eventType, payload);
  hashes.set(`${eventType} ${name}`, hash);
  return hash;
};

export interface Append {
  readonly request: ProcessEventAppendRequest;
  readonly payload_hash: string;
}

export const appended = (eventType: string, payload: Json, name: string, key?: string): Append => ({
  request: { event_type: eventType, payload, ...(key === undefined ? {} : { replay: { key } }) },
  payload_hash: hashOf(name, eventType, payload),
});

/** Returns the terminal event of an engine. */
export const engineEnd = (isCancelled: boolean): Append => {
  const eventType = isCancelled ? "process.cancelled" : "process.completed";
  const output: Json = isCancelled ? { type: "cancelled", message: "asked to" } : { type: "success", value: 1 };
  return appended(eventType, { await_output: output }, "end", terminalKey(processId, eventType));
};

export const note = (dice: Dice, key = `note:${dice.below(40)}`): Append => appended("note", "n", "n", key);

export const anyAsking = (dice: Dice, kind: number, wait: string): Asking => {
  switch (dice.below(7)) {
    case 0:
    case 1:
      return { type: "process.start", ...anyRegistration(dice, kind) };
    case 2: {
      const payload_hash = hashOf("s", "signal.go", 1);
      return { type: "process.signal", name: "go", signal_id: `s${dice.below(6)}`, payload: 1, payload_hash };
    }
    case 3:
      return { type: "process.append", ...note(dice) };
    case 4: {
      if (dice.isUnder(70)) return { type: "process.append", ...note(dice) };
      const payload_hash = hashOf("r", "process.cancel_requested", { reason: "r" });
      return { type: "process.cancel", reason: "r", payload_hash };
    }
    default:
      return { type: "process.await", wait };
  }
};

export const cancelOfProcess = (): Append => {
  const payload = { reason: "r" };
  const hash = hashOf("r", "process.cancel_requested", payload);
  return appended("process.cancel_requested", payload, "r", cancelKey(processId, hash));
};

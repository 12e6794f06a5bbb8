/** A session and a process that it starts: two scopes, each with a log of its own, and what they say to each other. */
import type { Command, Event } from "../../src/kernel/vocabulary.ts";
import { eventPayloadHash } from "../../src/process/hash.ts";
import type { Asking } from "../../src/message/message.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { acked, ask, resumed, settle, submit } from "./event.ts";
import { cancel, signal, start } from "../process/asking.ts";
import { Tape, tool } from "./tape.ts";

const call = {
  call_id: "c",
  tool_id: "tool:work",
  tool_name: "work",
  args: { n: 1 },
  prepared_payload: { ready: true },
};
const asked: ProcessRegistration = {
  id: "p1",
  input: { type: "tool_call", call },
  identity: { kind: "tool", label: "work" },
  event_types: ["note", "signal.go"].map((name) => ({ name, payload_schema: { schema: {} }, semantics: {} })),
  provenance: { originator: { type: "host" } },
  env_ref: "process-env:sha256:0",
  wake_target: { session_id: "golden" },
};

const home = "process:p1";

/** Two scopes, and a carriage between them that brings everything, when it is told to. */
export class Carriage {
  readonly first: Tape;
  readonly second: Tape;
  #seen = { first: 0, second: 0 };

  constructor(first: Tape, second: Tape) {
    this.first = first;
    this.second = second;
  }

  /** Plays what one has said, as the other is told. */
  #heard(from: "first" | "second"): readonly Event[] {
    const tape = this[from];
    const said = tape.said.slice(this.#seen[from]);
    this.#seen[from] = tape.said.length;
    return said.flatMap((command) => heard(tape.state.scope.id, command));
  }

  deliver(): this {
    for (;;) {
      const [toSecond, toFirst] = [this.#heard("first"), this.#heard("second")];
      if (toSecond.length + toFirst.length === 0) return this;
      for (const event of toSecond) this.second.note(event);
      for (const event of toFirst) this.first.note(event);
    }
  }
}

/** A session with a running body, and the scope of a process. */
class Pair extends Carriage {
  readonly session: Tape;
  readonly process: Tape;

  constructor() {
    super(Tape.open([tool("body")]), Tape.open([tool("work")], {}, home));
    [this.session, this.process] = [this.first, this.second];
    this.session.tell(submit("r", { b: "body" }), "call_started b", "execute r:b 1.1");
  }

  send(run: string, key: string, message: Asking): void {
    this.session.note(ask(run, key, { kind: "message", to: home, message }));
  }
}

export const heard = (from: string, command: Command): readonly Event[] => {
  if (command.type === "send") {
    const { type: _, to: __, ...said } = command;
    return [{ type: "message.received", from, ...said }];
  }
  if (command.type !== "message.answer") return [];
  const { type: _, to: __, ...said } = command;
  return [{ type: "message.answered", to: from, ...said }];
};

/** Started, signalled, awaited and done: the session hears of it, and both forget each other. */
const lived = (): Pair => {
  const pair = new Pair();
  pair.send("r:b", "start", start(asked));
  pair.deliver();
  pair.send("r:b", "go", signal("go", { n: 1 }));
  pair.send("r:b", "await", { type: "process.await", wait: "wait-1" });
  pair.session.tell(ask("r:b", "w", { kind: "wait", wait: "wait-1" }));
  pair.deliver();
  pair.process.after(900).note(settle("p1:c"));
  pair.session.after(1000);
  pair.deliver().session.tell(settle("r:b"), "call_completed b", "reply r").tell(acked("r"));
  return pair;
};

/** Cancelled by a body that runs again: its owner was lost between its asking for the process and the answer. */
const cancelled = (): Pair => {
  const pair = new Pair();
  pair.send("r:b", "start", start(asked));
  const { protocol, options } = pair.session.state.scope;
  pair.session.after(50).note({ type: "scope.opened", epoch: 2, owner: "d2", protocol, options });
  pair.session.note(resumed("r:b 1.2", "owner_lost", "d2"));
  pair.deliver();
  pair.send("r:b 1.2", "cancel", cancel("enough"));
  pair.deliver().process.after(50).note({ type: "clock.ticked" });
  return pair.deliver();
};

export const processSession = (): Tape => lived().session;
export const processOfSession = (): Tape => lived().process;
export const cancelledSession = (): Tape => cancelled().session;
export const cancelledProcess = (): Tape => cancelled().process;

/** One that its host registers, and hands to a session: it wakes that, is handed on, taken away, and let go of. */
const handed = (): Pair => {
  const pair = new Pair();
  const wake = { wake: { input: "payload", dedupe_key: "event_identity" } } as const;
  const event_types = asked.event_types.map((one) => (one.name === "note" ? { ...one, semantics: wake } : one));
  pair.process.note({ ...start({ ...asked, event_types }), type: "process.registered" });
  const [holder, frame] = [{ session_id: "golden" }, { session_id: "golden", agent_frame_id: "f" }];
  pair.session.note({ type: "handle.granted", holder, process: "p1", descriptor: { kind: "tool" }, status: "running" });
  pair.deliver();
  const payload_hash = eventPayloadHash("note", { say: "hi" }).hash;
  const request = { event_type: "note", payload: { say: "hi" } };
  pair.process.note({ type: "process.event_appended", request, payload_hash });
  pair.deliver();
  const woken = pair.session.said.flatMap((command) => (command.type === "wake.deliver" ? [command.key] : []));
  for (const key of woken) pair.session.tell({ type: "wake.acked", key });
  pair.session.note({ type: "handles.transferred", from: holder, to: frame, processes: ["p1"] });
  pair.session.note({ type: "handles.revoked", holder: frame });
  pair.deliver();
  pair.send("r:b", "start", start({ ...asked, event_types }));
  pair.session.note({ type: "link.retired", peer: home });
  return pair.deliver();
};

export const handedSession = (): Tape => handed().session;
export const registeredProcess = (): Tape => handed().process;

/** The session is deleted while the process runs on: it hears that nobody else has it. */
export const deletedSession = (): Tape => {
  const pair = new Pair();
  pair.send("r:b", "start", start(asked));
  pair.deliver();
  pair.session.note(ask("r:b", "w", { kind: "wait", wait: "outside" }));
  pair.session.note({ type: "session.deleted" });
  pair.deliver();
  return pair.session.tell(settle("r:b"), "call_completed b", "reply r").tell(acked("r"));
};

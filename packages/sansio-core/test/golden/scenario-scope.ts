/** What scopes live through: a catalog that changes, options, a move that is taken back and one that is not. */
import { acked, ask, resumed, settle, step, stepped, submit } from "./event.ts";
import { Tape, tool, underProtocol } from "./tape.ts";

/** A tool is switched off, found by its id, replaced with the catalog; what was submitted before keeps what it had. */
export const catalog = (): Tape => {
  const tape = Tape.open([tool("a"), tool("b", { availability: "searchable" })]);
  tape.tell(submit("one", { c1: "b" }), "call_started c1", "call_completed c1", "reply one");
  tape.tell({ type: "catalog.overridden", names: ["a"], availability: "off" });
  tape.tell({ type: "catalog.overridden", names: ["b"], availability: "callable" });
  const calls = [
    { id: "c1", tool: "tool:a", by_id: true, args: null },
    { id: "c2", tool: "tool:b", by_id: true, args: [1.5, 12345678901234567890n] },
  ];
  tape.tell(
    { type: "request.submitted", request: "two", hash: "h2", calls },
    "call_started c1",
    "call_completed c1",
    "call_started c2",
    "execute two:c2 1.1",
  );
  tape.tell({ type: "catalog.published", tools: [tool("a")] });
  tape.tell({ type: "catalog.overridden", names: ["a"], availability: null });
  tape.tell({ type: "scope.configured", options: { ...tape.state.scope.options, concurrency: 1 } });
  tape.tell(
    submit("three", { c1: "a", c2: "a", c3: "b" }),
    "call_started c3",
    "call_completed c3",
    "call_started c1",
    "execute three:c1 1.1",
  );
  tape
    .tell(settle("two:c2"), "call_completed c2", "reply two")
    .tell(settle("three:c1"), "call_completed c1", "call_started c2", "execute three:c2 1.1");
  tape.tell(settle("three:c2"), "call_completed c2", "reply three");
  return tape.tell(acked("one")).tell(acked("two")).tell(acked("three"));
};

/** A body that has asked for a step and for a nap, in a scope that begins to move. */
const move = (): Tape => {
  const tape = Tape.open([tool("durable")]);
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(ask("r:c1", "a", step()), "step.run a").tell(ask("r:c1", "nap", { kind: "sleep", ms: 100 }));
  return tape.tell({ type: "scope.moving", to: "store-2", nonce: "n1" });
};

/** Moving, everything stands still, and no time passes; kept, what has become due passes first. */
export const kept = (): Tape => {
  const tape = move().after(100).refuses({ type: "clock.ticked" }, "scope_is_moving");
  tape.refuses({ type: "scope.kept", nonce: "n0" }, "nonce_mismatch");
  tape.tell({ type: "scope.kept", nonce: "n1" }).refuses({ type: "scope.moved", nonce: "n1" }, "scope_is_not_moving");
  tape.tell(stepped("r:c1", "a"), "answer nap of 8", "answer a of 8");
  return tape.tell(settle("r:c1"), "call_completed c1", "reply r").tell(acked("r"));
};

/** The copy that is left behind: read-only for ever. */
export const moved = (): Tape => {
  const tape = move().tell({ type: "scope.moved", nonce: "n1" });
  tape.refuses({ type: "scope.kept", nonce: "n1" }, "scope_has_moved");
  return tape.refuses({ type: "scope.received", nonce: "n1", epoch: 2, owner: "d9" }, "scope_has_moved");
};

/** The copy that arrived: it goes on in a later epoch, and what ran where it came from is lost. */
export const received = (): Tape => {
  const tape = move().refuses({ type: "scope.received", nonce: "n1", epoch: 1, owner: "d9" }, "stale_epoch");
  const versions = tape.state.scope.protocol > 1 ? { versions: { "*": "v9" } } : {};
  const event = { type: "scope.received", nonce: "n1", epoch: 2, owner: "d9", ...versions } as const;
  tape.after(10).tell(event, "execute r:c1 1.2 owner_lost");
  tape.tell(resumed("r:c1 1.2", "owner_lost", "d9")).tick(90, "answer nap of 9");
  if (tape.state.scope.protocol > 1) tape.tell(stepped("r:c1 1.2", "a"), "answer a of 10");
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

/** Begun under protocol 1, and upgraded by its next driver before it opens the scope: losses are judged by the new rules. */
export const upgraded = (): Tape => {
  const tape = underProtocol(1, () => Tape.open([tool("durable")]));
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(ask("r:c1", "a", step()), "step.run a").tell(stepped("r:c1", "a"), "answer a of 5");
  tape.refuses({ type: "scope.upgraded", to: 1 }, "not_an_upgrade");
  const { options } = tape.state.scope;
  tape.after(100).tell({ type: "scope.upgraded", to: 2 });
  tape.refuses({ type: "scope.opened", epoch: 2, owner: "d2", protocol: 1, options }, "not_an_upgrade");
  const opened = { type: "scope.opened", epoch: 2, owner: "d2", protocol: 2, options } as const;
  tape.tell(opened, ...tape.crashed("c1"), "execute r:c1 1.2 owner_lost");
  tape.tell(resumed("r:c1 1.2", "owner_lost", "d2"));
  tape.tell(ask("r:c1 1.2", "b", step()), "step.run b").tell(stepped("r:c1 1.2", "b"), "answer b of 10");
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

/** A title, tags and values: by the host, and by a body, which has written once although its owner is lost. */
export const about = (): Tape => {
  const tape = Tape.open([tool("durable")]);
  tape.tell({ type: "scope.described", title: "A trip", tags: ["ann", "trips"], own_tools: true });
  tape.tell({ type: "scope.described", title: "A trip to Lviv" });
  tape.tell({ type: "value.kept", key: "seats", value: 3 }).tell({ type: "value.kept", key: "draft", value: [1] });
  tape.tell({ type: "value.kept", key: "draft" }).refuses({ type: "value.kept", key: " ", value: 1 }, "empty_id");
  const secret = { type: "secret.kept", name: "rail", digest: "d1", sealed: "k1.c2VhbGVk" } as const;
  tape.tell(secret).tell({ ...secret, name: "mail" }).tell({ type: "secret.kept", name: "mail" });
  tape.refuses({ ...secret, name: " " }, "empty_id");
  tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1");
  tape.tell(ask("r:c1", "w", { kind: "host", name: "store.set", input: { key: "seats", value: 4 } }), "host.request w");
  tape.keeping({ key: "seats", value: 4 }, "r:c1", "w", null, "answer w of 13");
  tape.tell({ type: "value.kept", key: "seats", value: 5 });
  const { scope } = tape.state;
  const opened = { type: "scope.opened", epoch: 2, owner: "d2", protocol: scope.protocol, options: scope.options } as const;
  tape.tell(opened, "execute r:c1 1.2 owner_lost").tell(resumed("r:c1 1.2", "owner_lost", "d2"));
  return tape.tell(settle("r:c1 1.2"), "call_completed c1", "reply r").tell(acked("r"));
};

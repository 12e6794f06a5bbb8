/** Calls that one version of their tool could not go on with: parked, healed by another version, released, failed. */
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { Versions } from "../../src/scope/model.ts";
import { acked, ask, cancelRequest, resumed, step, stepped, submit } from "./event.ts";
import { Tape, tool } from "./tape.ts";

const deploy = (tape: Tape, versions: Versions): Event => {
  const { options, epoch, protocol } = tape.state.scope;
  const opened = { epoch: epoch + 1, owner: `d${epoch + 1}`, protocol, options, last_owner: "released" } as const;
  return { type: "scope.opened", ...opened, versions };
};

const inVersion = (run: string, version: string, cause: "owner_lost" | "other_version" | "run_again" = "other_version") => ({
  ...resumed(run, cause, "d"),
  version,
});

const hash = (digit: string): string => digit.repeat(64);

const diverged = (call: string, run: number, version: string): Event => ({
  type: "call.diverged",
  call,
  attempt: 1,
  run,
  position: 1,
  expected: `step \`a\` with input ${hash("1")}`,
  found: `step \`a\` with input ${hash("2")}`,
  version,
  differs: {
    expected: { key: "a", kind: "step", hash: hash("1") },
    found: { key: "a", kind: "step", hash: hash("2") },
    fields: [{ path: "/amount", expected: "1", found: "2" }, { path: "/currency", found: '"EUR"' }],
  },
});

/** A deployment diverges, a roll-back heals; some calls are decided on by a person, by their time, by their tool. */
export const parkedDivergence = (): Tape => {
  const tools = [tool("parks"), tool("releases", { divergence: "release" }), tool("fails", { divergence: "fail" })];
  const tape = Tape.open([], { no_executor_ms: 1000, divergence_ms: 60_000 });
  tape.tell({ type: "catalog.published", tools, versions: { "*": "v1" } });
  const ids = ["c1", "c2", "c3", "c4", "c5"];
  const calls = { c1: "parks", c2: "releases", c3: "fails", c4: "parks", c5: "parks" };
  tape.tell(submit("r", calls), ...ids.flatMap((id) => [`call_started ${id}`, `execute r:${id} 1.1`]));
  for (const id of ids) {
    const asked = ask(`r:${id}`, "a", step(id === "c4" ? "once" : "again"));
    tape.tell({ ...asked, patched: { faster: id === "c1" } } as Event, "step.run a");
    tape.tell(stepped(`r:${id}`, "a"), `answer a of ${tape.seq + 1}`);
  }
  tape.tell(ask("r:c5", "on-cancel", { kind: "cleanup", deadline_ms: 1000 }));
  tape.tell(deploy(tape, { "*": "v2" }), ...ids.map((id) => `execute r:${id} 1.2 owner_lost`));
  for (const id of ids) tape.tell(inVersion(`r:${id} 1.2`, "v2", "owner_lost"));
  tape.tell(diverged("r:c1", 2, "v2"), "call_unknown c1");
  tape.tell(diverged("r:c2", 2, "v2"), "execute r:c2 2.1 run_again").tell(inVersion("r:c2 2.1", "v2", "run_again"));
  tape.tell(diverged("r:c3", 2, "v2"), "call_completed c3");
  tape.tell(diverged("r:c4", 2, "v2"), "call_unknown c4").tell(diverged("r:c5", 2, "v2"), "call_unknown c5");
  tape.tell({ type: "outcome.resolved", call: "r:c4", resolved: { type: "release" }, by: "user:ada" }, "execute r:c4 2.1 run_again");
  tape.tell(inVersion("r:c4 2.1", "v2", "run_again"));
  tape.tell({ type: "effect.reused", call: "r:c4", attempt: 2, key: "a" }, `answer a of ${tape.seq + 1}`);
  tape.tell({ type: "call.cancelled", call: "r:c5" }, "call_completed c5");
  tape.tell({ type: "executors.available", tools: ["tool:fails"], versions: { "tool:fails": "v3" } });
  tape.tell(
    deploy(tape, { "*": "v1", "tool:releases": null }),
    "execute r:c2 2.2 owner_lost",
    "execute r:c4 2.2 owner_lost",
    "execute r:c1 1.3 other_version",
  );
  tape.tell(inVersion("r:c1 1.3", "v1")).tell({ type: "call.executor_missing", call: "r:c1", attempt: 1, run: 3 }, "call_unknown c1");
  tape.tell({ type: "catalog.published", tools, versions: { "*": "v3" } }, "execute r:c1 1.4 other_version");
  tape.tell(inVersion("r:c1 1.4", "v3")).tell(diverged("r:c1", 4, "v3"), "call_unknown c1");
  tape.tick(60_000, "call_completed c1");
  tape.tell(cancelRequest("r"), "call_completed c2", "call_completed c4", "reply r");
  return tape.tell(acked("r"));
};

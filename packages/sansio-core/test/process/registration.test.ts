import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { registrationHash } from "../../src/process/hash.ts";
import type { ProcessEventType, ProcessInput } from "../../src/process/model.ts";
import {
  checkRegistration,
  identityOf,
  recordOf,
  register,
  startedByProcess,
  startedBySession,
} from "../../src/process/registration.ts";
import { eventType, messageOf, processRow, registration, right } from "./world.ts";

const call = { call_id: "c", tool_id: "tool:t", tool_name: "t", args: {}, prepared_payload: null };
const turn = { type: "session_turn", turn_input: null, output_contract: null } as const;
const env_ref = "process-env:sha256:00";

const coreNames = [
  "process.cancel_requested",
  "process.waiting",
  "process.resumed",
  "process.completed",
  "process.failed",
  "process.cancelled",
];
const namesOf = (types: readonly ProcessEventType[]): readonly string[] => types.map(({ name }) => name);

const refused = (...types: readonly ProcessEventType[]): string => messageOf(checkRegistration(registration(types)));

describe("a registration", () => {
  it("gets the core event types that it lacks, after its own", () => {
    const own = [eventType("x"), eventType("process.resumed")];
    const { event_types } = right(checkRegistration(registration(own)));
    expect(namesOf(event_types)).toEqual([
      "x",
      "process.resumed",
      ...coreNames.filter((name) => name !== "process.resumed"),
    ]);
    expect(event_types.at(-1)).toEqual({
      name: "process.cancelled",
      payload_schema: { schema: {} },
      semantics: { terminal: { state: "cancelled", await_output: { pointer: "/await_output" } } },
    });
    expect(event_types.find(({ name }) => name === "process.cancel_requested")?.semantics).toEqual({});
  });
  it("is complete once it is", () => {
    const completed = right(checkRegistration(registration([eventType("x")])));
    expect(right(checkRegistration(completed))).toEqual(completed);
  });
  it("is refused under a blank id", () => {
    expect(messageOf(checkRegistration(registration([], { id: " " })))).toBe("process id must be a non-empty string");
  });
  it("of a tool call or an engine needs a captured environment", () => {
    const inputs: readonly ProcessInput[] = [
      { type: "tool_call", call },
      { type: "engine", kind: "k", payload: null },
    ];
    for (const input of inputs) {
      expect(messageOf(checkRegistration(registration([], { input })))).toBe(
        "process `p1` requires a captured execution env",
      );
      expect(E.isRight(checkRegistration(registration([], { input, env_ref })))).toBe(true);
    }
  });
  it("of anything else must not capture one", () => {
    const inputs: readonly ProcessInput[] = [
      { ...turn, create_request: {} },
      { type: "external", metadata: 1 },
    ];
    for (const input of inputs) {
      expect(messageOf(checkRegistration(registration([], { input, env_ref })))).toBe(
        "process `p1` must not capture an execution env for this input kind",
      );
      expect(E.isRight(checkRegistration(registration([], { input })))).toBe(true);
    }
  });
  it("is refused with event types that are blank, repeated, or end without an output", () => {
    expect(refused(eventType(" "))).toContain("non-empty");
    expect(refused(eventType("x"), eventType("x"))).toContain("`x` more than once");
    expect(refused(eventType("x", { terminal: { state: "failed" } }))).toContain("must declare await_output");
    expect(refused(eventType("x", { terminal: { state: "cancelled" } }))).toContain("must declare await_output");
    expect(refused(eventType("x", { terminal: { state: "completed" } }))).toBe("no error");
  });
});

describe("registering", () => {
  it("makes a running process, once", () => {
    const said = registration([eventType("x")]);
    const first = right(register(undefined, said, "h", 1000));
    expect(first.isReplay).toBe(false);
    expect(first.row.status).toEqual({ state: "running" });
    const again = right(register(first.row, said, "h", 2000));
    expect(again).toEqual({ row: first.row, isReplay: true });
  });
  it("something else under the same id is a conflict", () => {
    const row = processRow();
    expect(messageOf(register(row, registration([eventType("x")]), "B", 2000))).toBe(
      `process \`p1\` registration hash conflict: existing ${row.hash}, new B`,
    );
  });
  it("hashes what is registered, in whatever order its keys stand", () => {
    const completed = right(checkRegistration(registration([eventType("x")])));
    const turned = Object.fromEntries(Object.entries(completed).toReversed()) as unknown as typeof completed;
    expect(registrationHash(turned)).toBe(registrationHash(completed));
    expect(registrationHash({ ...completed, id: "p2" })).not.toBe(registrationHash(completed));
  });
});

describe("the identity of a process", () => {
  const identities: readonly (readonly [ProcessInput, object])[] = [
    [
      { type: "tool_call", call },
      { kind: "tool", label: "t" },
    ],
    [{ type: "engine", kind: "loop", payload: null }, { kind: "loop" }],
    [
      { ...turn, create_request: { subagent: { capability: "c" }, usage_source: "u" } },
      { kind: "session_turn", label: "c" },
    ],
    [
      { ...turn, create_request: { usage_source: "u", session_id: "s" } },
      { kind: "session_turn", label: "u" },
    ],
    [
      { ...turn, create_request: { session_id: "s" } },
      { kind: "session_turn", label: "s" },
    ],
    [{ ...turn, create_request: {} }, { kind: "session_turn" }],
    [
      { type: "external", metadata: { label: 1, name: "n", title: "t" } },
      { kind: "external", label: "n" },
    ],
    [
      { type: "external", metadata: { title: "t" } },
      { kind: "external", label: "t" },
    ],
    [{ type: "external", metadata: null }, { kind: "external" }],
  ];
  it("is derived from what it runs", () => {
    for (const [input, identity] of identities) expect(identityOf(input)).toEqual(identity);
  });
});

describe("whoever starts a process", () => {
  const scope = { session_id: "s", agent_frame_id: "f" };
  const causedBy = { type: "turn", session_id: "s", turn_id: "t" } as const;

  it("as a session is its originator, and is woken", () => {
    const start = startedBySession(scope, causedBy);
    expect(start).toEqual({
      provenance: { originator: { type: "session", scope }, caused_by: causedBy },
      wake_target: scope,
    });
  });
  it("as a process hands on its own originator and target", () => {
    expect(startedByProcess(processRow([], startedBySession(scope)), causedBy)).toEqual(
      startedBySession(scope, causedBy),
    );
    const hosted = startedByProcess(processRow());
    expect(hosted).toEqual({ provenance: { originator: { type: "host" } } });
  });
});

it("a record says what was registered, and how it stands", () => {
  const row = processRow([eventType("x")]);
  const { id, registration_hash, event_types, ...rest } = recordOf(row);
  expect(id).toBe("p1");
  expect(registration_hash).toBe(row.hash);
  expect(namesOf(event_types)).toEqual(["x", ...coreNames]);
  expect(rest).toEqual({
    input: { type: "external", metadata: null },
    identity: { kind: "external" },
    provenance: { originator: { type: "host" } },
    created_at_ms: 1000,
    updated_at_ms: 1000,
    status: { state: "running" },
  });
});

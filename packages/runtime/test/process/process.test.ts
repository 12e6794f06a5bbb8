/** Processes as a host starts, ends and signals them. */
import type { ProcessAwaitOutput } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import type { HostPort } from "../../src/index.ts";
import { Patient, begin, done, engine, external, held, messageOf } from "./host.ts";
import { toolCall } from "./world.ts";

const running = (run: () => Promise<never>): HostPort => ({ engines: { flow: { run } } });

/** How a process ends under a host. */
const failed = async (host: HostPort): Promise<unknown> => {
  const { processes } = begin(host);
  await processes.start(engine("p"));
  return processes.await("p");
};

describe("a process that the host starts", () => {
  it("that is external ends at once, and is the same when it is started again", async () => {
    const { processes } = begin({});
    await processes.start(external("x"));
    const record = await processes.start(external("x"));
    expect(record.status).toMatchObject({
      state: "completed",
      await_output: { value: { metadata: { label: "outside" } } },
    });
    expect(await messageOf(processes.start({ ...external("x"), identity: { kind: "other" } }))).toMatch(
      /^process `x` registration hash conflict: existing [0-9a-f]{64}, new [0-9a-f]{64}$/,
    );
    expect(await messageOf(processes.start(engine("y", { env_ref: undefined as never })))).toBe(
      "process `y` requires a captured execution env",
    );
    expect(await messageOf(processes.read("nobody"))).toBe("unknown process `nobody`");
  });

  it("that is a session's turn is run by the host's engine for these", async () => {
    const input = { type: "session_turn", create_request: { n: 1 }, turn_input: "hi", output_contract: null } as const;
    const turns: unknown[] = [];
    const run = async (record: { readonly input: unknown }): Promise<ProcessAwaitOutput> => (
      turns.push(record.input),
      done
    );
    const { processes } = begin({ engines: { session_turn: { run } } });
    await processes.start({ ...external("p"), input, identity: { kind: "session_turn" } });
    expect([await processes.await("p"), turns]).toEqual([done, [input]]);
  });

  it("whose engine is missing, throws or returns nonsense has failed", async () => {
    expect(await failed({})).toMatchObject({ type: "failure", class: "execution", code: "process_engine_missing" });
    expect(await failed(running(() => Promise.reject(new Error("boom"))))).toMatchObject({
      class: "execution",
      code: "process_recovery_failed",
      message: "boom",
    });
    expect(await failed(running(async () => 7 as never))).toMatchObject({ code: "process_recovery_failed" });
  });

  it("whose environment is not known has failed", async () => {
    const { processes } = begin({ environment: async () => undefined });
    await processes.start({ ...engine("p"), input: toolCall("work") });
    expect(await processes.await("p")).toEqual({
      type: "failure",
      class: "internal",
      code: "process_tool_failed",
      message: "environment `process-env:sha256:0` is not known here",
    });
  });

  it("is asked to end once for a reason, and its engine's end is its end", async () => {
    const { engines } = new Patient();
    const { processes } = begin({ engines });
    await processes.start(engine("p"));
    const stop = new AbortController();
    const end = processes.await("p", { signal: stop.signal });
    stop.abort();
    await processes.cancel("p", null);
    expect(await end).toEqual({ type: "cancelled", message: "stopped" });
    await processes.cancel("p", null);
    await processes.cancel("p", "another");
    const note = await processes.append("p", { event_type: "note", payload: null });
    expect(note.sequence).toBe(4);
    expect(await messageOf(processes.cancel("nobody", null))).toBe("unknown process `nobody`");
  });

  it("is ended by the host once: the same end again is nothing, another a conflict, another kind too late", async () => {
    const patient = new Patient();
    const { engines } = patient;
    const { processes } = begin({ engines });
    await processes.start(engine("p"));
    await processes.complete("p", done);
    expect((await processes.complete("p", done)).status.state).toBe("completed");
    expect(await messageOf(processes.complete("p", { type: "success", value: 2 }))).toBe(
      "process `p` event replay key `process:p:terminal:process.completed` conflicts with an existing event",
    );
    expect(await messageOf(processes.complete("p", { type: "cancelled", message: "" }))).toBe(
      "process `p` is already terminal",
    );
    patient.finish?.({ type: "success", value: "too late" });
    expect(await processes.await("p")).toEqual(done);
  });

  it("is signalled by those who hold it, with what its types allow", async () => {
    const { engines } = new Patient();
    const { processes, world } = begin({ engines });
    await processes.start(engine("p", { wake_target: held }));
    await world.quiet();
    const go = { name: "go", payload: { n: 1 }, signalId: "s1" };
    expect((await processes.signal("p", { ...go, holder: held })).sequence).toBe(1);
    expect((await processes.signal("p", go)).sequence).toBe(1);
    expect(await messageOf(processes.signal("p", { ...go, holder: { session_id: "other" } }))).toBe(
      "process handle `p` is not live or visible in this session",
    );
    expect(await messageOf(processes.signal("p", { ...go, payload: 1, signalId: "s2" }))).toMatch(
      /^invalid `signal.go` payload: /,
    );
    expect(await messageOf(processes.signal("p", { ...go, name: "a b" }))).toContain("process signal name must be");
    expect(await messageOf(processes.signal("p", { ...go, name: "stop", signalId: "s3" }))).toBe(
      "process `p` emitted undeclared event type `signal.stop`",
    );
  });

  it("is seen by its observers, who can not hurt it", async () => {
    const seen: string[] = [];
    const thrown: string[] = [];
    const { processes } = begin({
      observeProcess: (scope, { what }) => {
        seen.push(`${scope} ${what}`);
        throw new Error("blind");
      },
      internalError: (what) => thrown.push(what),
    });
    await processes.start(external("x"));
    expect(seen).toEqual(["process:x registered", "process:x event", "process:x ended"]);
    expect(thrown).toHaveLength(3);
  });
});

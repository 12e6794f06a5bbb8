/** A closed runtime refuses every request in the same way, whether the scope is in memory or not. */
import { type Session, Runtime, defineTool } from "@pawl/runtime";
import { afterAll, describe, expect, it, vi } from "vitest";
import { nodePlatform, openRuntime, sqliteJournal } from "../src/index.ts";
import { rootsOf } from "../src/journal/root-secret.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const echo = defineTool({ name: "echo", execute: (args) => args });
const calls = [{ label: "c", tool: "echo", args: {} }];
const ok = { status: "ok", payload: null } as const;
const decided = { hash: "h", by: "ann" };

const ofSession: { readonly [verb: string]: (session: Session) => unknown } = {
  "call again": (session) => session.request("r", calls),
  call: (session) => session.request("new", calls),
  replies: (session) => session.replies("r"),
  acknowledge: (session) => session.acknowledge("r"),
  resolve: (session) => session.resolve("v1.k1.x.y", ok),
  resolveById: (session) => session.resolveById("k", ok, "ann"),
  approve: (session) => session.approve("r:c", decided),
  reject: (session) => session.reject("r:c", { ...decided, reason: "no" }),
  cancel: (session) => session.cancel({ request: "r" }),
  connect: (session) => session.connect("r:c", { status: "saved" }),
  report: (session) => session.report({ type: "clock.ticked" }),
  follow: (session) => session.follow(0, new AbortController().signal).next(),
  observe: (session) => session.observe().next(),
};
const ofRuntime: { readonly [verb: string]: (runtime: Runtime) => unknown } = {
  session: (runtime) => runtime.session("s"),
  has: (runtime) => runtime.has("session:s"),
  recover: (runtime) => runtime.recover(),
  move: (runtime) => runtime.move("session:s", "ws://far"),
  keep: (runtime) => runtime.moves.keep("session:s"),
  arrival: (runtime) => runtime.moves.arrivals.send({ scope: "session:s", nonce: "n", part: 1, parts: 1, text: "" }),
  "a process read": (runtime) => runtime.processes.read("p"),
  "a process's end": (runtime) => runtime.processes.await("p"),
  "processes listed": (runtime) => runtime.processes.list({ session_id: "s" }, "all"),
  tasks: (runtime) => runtime.background.of("s").tasks({}),
};

/** Returns the error of a request to a closed runtime. */
const saidBy = async (verb: () => unknown): Promise<unknown> => {
  try {
    return await verb();
  } catch (thrown) {
    const { name, code } = thrown as { readonly name: string; readonly code?: string };
    return code === undefined ? thrown : `${name}: ${code}`;
  }
};

const nowhere = { send: async () => ({ type: "received" }), decline: async () => ({ type: "declined" }) } as never;

let files = 0;
const closed = async (lingers: boolean) => {
  const journal = sqliteJournal(file(`closed-${(files += 1)}.db`));
  const linger = lingers ? {} : { linger: { ms: 0, most: 0 } };
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools: [echo],
    instance: "i",
    roots: rootsOf(":memory:"),
    mover: () => nowhere,
    ...linger,
  });
  const session = await runtime.session("s");
  await session.request("r", calls);
  await vi.waitFor(() => expect(runtime.inMemory).toBe(lingers ? 1 : 0));
  await runtime.close();
  await journal.close();
  return { runtime, session };
};

describe("a runtime that is closed, and its journal with it", () => {
  it.each([true, false])(
    "refuses each verb with `closing` while its scope is in memory: %s",
    async (lingers) => {
      const { runtime, session } = await closed(lingers);
      const said: { [verb: string]: unknown } = {};
      for (const [name, verb] of Object.entries(ofSession)) said[name] = await saidBy(() => verb(session));
      for (const [name, verb] of Object.entries(ofRuntime)) said[name] = await saidBy(() => verb(runtime));
      const verbs = [...Object.keys(ofSession), ...Object.keys(ofRuntime)];
      expect(said).toEqual(Object.fromEntries(verbs.map((verb) => [verb, "Refused: closing"])));
    },
    20_000,
  );
});

describe("a runtime over a file that is closed twice, the second time before the first is done", () => {
  it("has everything on disk when either call returns", async () => {
    const path = file("closed-twice.db");
    const waits = defineTool({ name: "waits", execute: () => new Promise<never>(() => undefined) });
    const { runtime, close } = openRuntime({ file: path, tools: [waits] });
    const session = await runtime.session("s");
    const replies = session
      .request("r", [{ label: "c", tool: "waits", args: {} }])
      .catch((thrown: { readonly code: string }) => thrown.code);
    expect(session.runner.durable.requests.size).toBe(0);
    const first = close();
    await close();
    const next = openRuntime({ file: path, tools: [waits] });
    expect((await next.runtime.session("s")).state.requests.at("r")).toBeDefined();
    expect(await replies).toBe("scope_lost");
    await Promise.all([first, next.close()]);
  });
});

/** Turns over HTTP: said, joined, waited for, refused. */
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { ModelPort } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "../../driver-node/src/index.ts";
import { ask, heard, hostOf, read } from "./rig.ts";

const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
const look = defineTool({ name: "look", durable: true, execute: () => ({ seen: true }) });
const path = "/v1/sessions/team-1%2Fann/turns/turn%201";
const said = (content: string) => ({ messages: [{ role: "user", content }] });

/** A host whose model says a text when it is let, and counts what it is asked. */
const started = async () => {
  const { promise: let_, resolve: go } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const model: ModelPort = {
    ask: async ({ key }) => {
      asked.push(key);
      await let_;
      const pieces = [{ b: 0, part: { type: "text", text: "I saw it." } } as const];
      return { pieces, finish: { reason: "stop" }, usage: { input_tokens: 10, output_tokens: 5 } };
    },
  };
  const agent = { system: "Be short.", routes: [{ provider: "p", model: "m" }] };
  const host = { models: () => model, agents: (name: string) => (name === "main" ? agent : undefined) };
  const journal = memoryJournal();
  const runtime = new Runtime({ journal, platform: nodePlatform, tools: [look], instance: "i1", roots, host });
  return { open: await hostOf([], { runtime }), go, asked };
};

describe("a turn over HTTP", () => {
  it("is recorded at once, joined by the same turn, and has its end once it is over", async () => {
    const { open, go, asked } = await started();
    const first = await ask(open, path, { method: "POST", body: said("Look at it.") });
    expect([first.status, first.headers.get("location")]).toEqual([202, path]);
    expect(await first.json()).toMatchObject({ status: { request: "turn 1" } });
    const joined = read(ask(open, path, { method: "POST", body: said("Look at it."), headers: { prefer: "wait=20" } }));
    const waiting = read(ask(open, path, { headers: { prefer: "wait=20" } }));
    go();
    const whole = { status: { state: "done" }, end: { status: "finished", text: "I saw it.", turn: "turn 1" } };
    expect(await joined).toMatchObject([200, whole]);
    expect(await waiting).toMatchObject([200, whole]);
    expect(asked).toHaveLength(1);
    const acknowledge = path.replace("/turns/", "/requests/");
    expect((await ask(open, `${acknowledge}/acknowledge`, { method: "POST" })).status).toBe(204);
    expect(await read(ask(open, path))).toMatchObject([200, whole]);
  });

  it("is read as it is said, and gone on from by the id of any event", async () => {
    const { open, go } = await started();
    await ask(open, path, { method: "POST", body: said("Look at it.") });
    const live = await ask(open, `${path}/events`);
    expect([live.status, live.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    go();
    const all = await heard(live);
    expect(all.map(({ event }) => event)).toEqual(["part", "answered"]);
    expect(all[0]?.data).toMatchObject({ n: 1, part: { type: "text", text: "I saw it." } });
    const from = async (id: string) => heard(await ask(open, `${path}/events`, { headers: { "last-event-id": id } }));
    expect(await from("1.1.0")).toEqual(all);
    expect(await from(all[0]?.id ?? "")).toEqual(all.slice(1));
    expect(await from(all[1]?.id ?? "")).toEqual([]);
    expect((await ask(open, `${path}/events?after=1.1`)).status).toBe(400);
  });

  it("shows what its model was told, and is told next", async () => {
    const { open, go } = await started();
    go();
    await ask(open, path, { method: "POST", body: said("Look at it."), headers: { prefer: "wait=20" } });
    const prompts = "/v1/sessions/team-1%2Fann/prompt";
    const messages = [
      { role: "system", content: "Be short." },
      { role: "user", content: [{ type: "text", text: "Look at it." }] },
    ];
    const told = { request: "turn 1", n: 1, attempt: 1, agent: "main", tool_choice: "auto", messages };
    expect(await read(ask(open, `${prompts}?request=turn%201&n=1`))).toMatchObject([200, told]);
    const [status, next] = await read(ask(open, prompts));
    expect([status, next]).toMatchObject([200, { messages: { length: 3 } }]);
    expect(await read(ask(open, `${prompts}?request=none`))).toMatchObject([404, { code: "request_unknown" }]);
  });

  it("is refused where another has its name, or where it says nothing that a turn can be", async () => {
    const { open, go } = await started();
    go();
    await ask(open, path, { method: "POST", body: said("Look at it."), headers: { prefer: "wait=20" } });
    const other = await read(ask(open, path, { method: "POST", body: said("Look away.") }));
    expect(other).toMatchObject([409, { code: "request_conflict" }]);
    expect(await read(ask(open, path, { method: "POST", body: { messages: "hello" } }))).toMatchObject([400, {}]);
    expect(await read(ask(open, path, { method: "POST", body: said("x"), as: { rights: ["observe"] } }))).toMatchObject(
      [403, {}],
    );
    expect(await read(ask(open, path.replace("turn%201", "none")))).toMatchObject([404, { code: "request_unknown" }]);
  });
});

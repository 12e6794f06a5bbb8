/** Server-sent events: observations, logs and streams, gone on from by their ids. */
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { type Heard, ask, everything, heard, hostOf } from "./rig.ts";

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const use = (tool: string, n = 0) => ({ calls: [{ id: "c", tool, args: { n } }] });
const session = "/v1/sessions/s";
const wait = { method: "POST", headers: { prefer: "wait=20" } };

const idsOf = (all: readonly Heard[]) => all.map(({ id }) => id);
const activities = (all: readonly Heard[]) => all.filter(({ event }) => event === "observed").map(({ data }) => data);

describe("events of a session", () => {
  it("begin with their place, and are gone on from by the id of any of them, with nothing lost or told twice", async () => {
    const host = await hostOf([echo]);
    await ask(host, `${session}/requests/r0`, { ...wait, body: use("echo") });
    const live = await ask(host, `${session}/events`);
    expect([live.status, live.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    await ask(host, `${session}/requests/r1`, { ...wait, body: use("echo") });
    await ask(host, `${session}/requests/r2`, { ...wait, body: use("echo") });
    const all = await heard(live, 5);
    expect(all[0]).toMatchObject({ event: "watching", data: { scope: "session:s" } });
    const told = activities(all);
    expect(told.length).toBeGreaterThan(2);
    for (const [i, { id }] of all.entries()) {
      const again = await ask(host, `${session}/events`, { headers: { "last-event-id": id as string } });
      const rest = await heard(again, all.length - i);
      expect(rest[0]).toMatchObject({ event: "watching", id });
      expect(activities(rest).slice(0, told.length - i)).toEqual(told.slice(i));
    }
  });

  it("are the log from its beginning, or from an event on", async () => {
    const host = await hostOf([echo]);
    await ask(host, `${session}/requests/r`, { ...wait, body: use("echo") });
    const { seq } = (await host.runtime.session("s")).state;
    const all = await heard(await ask(host, `${session}/events?form=log`), seq);
    expect(idsOf(all)).toEqual(Array.from({ length: seq }, (_, i) => String(i + 1)));
    expect(all[0]?.data).toMatchObject({ at: expect.any(Number), event: { type: "scope.opened" } });
    const rest = await heard(
      await ask(host, `${session}/events?form=log`, { headers: { "last-event-id": "2" } }),
      seq - 2,
    );
    expect(rest).toEqual(all.slice(2));
    expect(await heard(await ask(host, `${session}/events?form=log&after=2`), seq - 2)).toEqual(rest);
  });

  it("are refused from a place that there is not", async () => {
    const host = await hostOf([echo]);
    await ask(host, `${session}/requests/r`, { ...wait, body: use("echo") });
    const from = async (id: string, form = "log") => {
      const response = await ask(host, `${session}/events?form=${form}`, { headers: { "last-event-id": id } });
      return [response.status, ((await response.json()) as { readonly code: string }).code];
    };
    expect(await from("999")).toEqual([400, "cursor_ahead"]);
    expect(await from("999.1", "observations")).toEqual([400, "cursor_ahead"]);
    expect(await from("x")).toEqual([400, "invalid_argument"]);
    expect(await from("1", "whole")).toEqual([400, "invalid_argument"]);
    expect((await ask(host, "/v1/sessions/none/events")).status).toBe(404);
    expect((await ask(host, `${session}/events`, { as: { rights: ["call"] } })).status).toBe(403);
  });

  it("end with their token and with their host, and count as a client until then", async () => {
    const host = await hostOf([echo]);
    await ask(host, `${session}/requests/r`, { ...wait, body: use("echo") });
    const short = await ask(host, `${session}/events`, { as: { expires_at: Date.now() + 300 } });
    const long = await ask(host, `${session}/events`, { as: everything });
    expect(host.connections).toBe(2);
    expect(await heard(short)).toHaveLength(1);
    await expect.poll(() => host.connections).toBe(1);
    const ended = heard(long);
    await host.close();
    expect(await ended).toHaveLength(1);
  });

  it("leave room for others: what is over the bound is asked again", async () => {
    const host = await hostOf([echo], { limits: { maxConnections: 2 } });
    await ask(host, `${session}/requests/r`, { ...wait, body: use("echo") });
    const open = [await ask(host, `${session}/events`), await ask(host, `${session}/events`)];
    const third = await ask(host, `${session}/events`);
    expect([third.status, ((await third.json()) as { readonly code: string }).code]).toEqual([
      503,
      "too_many_in_flight",
    ]);
    for (const { body } of open) await body?.cancel();
    await expect.poll(async () => (await ask(host, `${session}/requests`)).status).toBe(200);
  });
});

const chunksOf = (some: readonly Heard[]) =>
  some.flatMap(({ event, data }) =>
    event === "chunks" ? (data as { readonly chunks: readonly string[] }).chunks : [],
  );

describe("a stream of a call", () => {
  const words = ["a", "b", "c", "d"];
  const talks = defineTool({
    name: "talks",
    durable: true,
    execute: (_, ctx) =>
      ctx.stream("words", async function* () {
        for (const word of words) yield word;
      }),
  });
  const stream = `${session}/calls/r%3Ac/stream`;

  it("is read live and late, and gone on from", async () => {
    const host = await hostOf([talks]);
    await ask(host, `${session}/requests/r`, { ...wait, body: use("talks") });
    const all = await heard(await ask(host, `${stream}?name=words`));
    expect([chunksOf(all), all.at(-1)?.event]).toEqual([words, "end"]);
    const late = await heard(await ask(host, `${stream}?name=words`, { headers: { "last-event-id": "1.2" } }));
    expect(chunksOf(late)).toEqual(["c", "d"]);
    expect(chunksOf(await heard(await ask(host, `${stream}?name=words&from=3`)))).toEqual(["d"]);
  });

  it("is refused where there is none", async () => {
    const host = await hostOf([talks]);
    await ask(host, `${session}/requests/r`, { ...wait, body: use("talks") });
    expect((await ask(host, `${session}/calls/none/stream?name=words`)).status).toBe(404);
    expect((await ask(host, stream)).status).toBe(400);
  });
});

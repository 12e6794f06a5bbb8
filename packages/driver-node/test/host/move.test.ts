/** A session moves over WebSocket between two hosts with a journal file each, and back. */
import { stateHash } from "@pawl/sansio-core";
import { Runtime, type ToolDefinition, defineTool, memoryJournal } from "@pawl/runtime";
import { type Mover, foldLines } from "@pawl/runtime/driver";
import { pending } from "@pawl/tool-value";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type Client, moverOver } from "@pawl/wire";
import { type Host, Receivers, type SqliteJournal, nodePlatform, sqliteJournal } from "../../src/index.ts";
import { testFolder } from "../sqlite-rig.ts";
import { clientOf, greeted, hostOf } from "./rig.ts";
import { echo, use } from "./tools.ts";
import { until } from "../until.ts";

const folder = testFolder();
afterAll(folder.remove);

const scope = "session:s";
const call = (n: number) => use("echo", { n });
const ok = (payload: string) => ({ status: "ok", payload }) as const;

interface Place {
  readonly journal: SqliteJournal;
  readonly runtime: Runtime;
  readonly host: Host;
}

const places = new Map<string, Place>();
const journals: SqliteJournal[] = [];
afterEach(async () => {
  places.clear();
  for (const { close } of journals.splice(0)) await close();
});

let files = 0;

const place = async (tools: readonly ToolDefinition[], commits: "inline" | "thread"): Promise<Place> => {
  const name = String((files += 1));
  const journal = sqliteJournal(folder.file(name), { commits });
  journals.push(journal);
  const clients = new Map<string, Mover>();
  const mover = (to: string): Mover => {
    const known = clients.get(to) ?? moverOver(moving(to));
    clients.set(to, known);
    return known;
  };
  const roots = { newest: { kid: "k", secret: new Uint8Array(32).fill(files) } };
  const runtime = new Runtime({ journal, platform: nodePlatform, tools, instance: name, roots, mover });
  const host = await hostOf([], { runtime });
  places.set(host.url, { journal, runtime, host });
  return { journal, runtime, host };
};

const moving = (url: string): Client => {
  const to = places.get(url);
  if (to === undefined) throw new Error(`no host at ${url}`);
  return clientOf(to.host, { by: "mover", rights: ["move"] });
};

describe("a session that moves over WebSocket", () => {
  for (const commits of ["inline", "thread"] as const)
    it(`has the same state at the target, with commits ${commits}, and comes back`, async () => {
      const tokens: string[] = [];
      const steps: string[] = [];
      const long = "x".repeat(300_000);
      const tools = [
        echo,
        defineTool({
          name: "outside",
          execute: (_, ctx) => (tokens.push(ctx.completionKey()), pending({ on_cancel: "ignore" })),
        }),
        defineTool({
          name: "worker",
          durable: true,
          execute: async (_, ctx) => {
            await ctx.run("one", () => steps.push("one"));
            await ctx.sleep(300);
            await ctx.run("two", () => steps.push("two"));
            return steps.length;
          },
        }),
      ];
      const [a, b] = [await place(tools, commits), await place(tools, commits)];
      const before = clientOf(a.host).session("s");
      await before.request("r", use("echo", { long, sign: "😀" }));
      before.request("out", use("outside")).catch(() => undefined); // The session moves away.
      before.request("work", use("worker")).catch(() => undefined);
      await until(() => tokens.length === 1 && steps.length === 1);

      await a.runtime.move(scope, b.host.url);
      const source = await a.journal.read(scope, 1);
      const target = await b.journal.read(scope, 1, source.length - 1);
      expect(target).toEqual(source.slice(0, -1));
      expect(stateHash(foldLines(scope, target))).toBe(stateHash(foldLines(scope, source.slice(0, -1))));
      await expect(before.replies("r")).rejects.toMatchObject({ code: "moved", address: b.host.url });

      const after = clientOf(b.host).session("s");
      expect((await after.replies("work"))[0]?.output.outcome).toMatchObject({ payload: 2 });
      expect(steps).toEqual(["one", "two"]);
      expect(await after.resolve(tokens[0] ?? "", ok("from outside"))).toEqual({ status: "accepted" });
      expect((await after.replies("out"))[0]?.output.outcome).toMatchObject({ payload: "from outside" });
      expect(await after.request("r", use("echo", { long, sign: "😀" }))).toHaveLength(1);

      await b.runtime.move(scope, a.host.url);
      await expect(after.open()).rejects.toMatchObject({ code: "moved", address: a.host.url });
      expect(await before.resolve(tokens[0] ?? "", ok("again"))).toMatchObject({ status: "already_resolved" });
      expect((await a.journal.verify(scope))?.type).toBe("whole");
      expect((await before.request("last", use("echo", { n: 1 })))[0]?.output.outcome).toMatchObject({
        payload: { n: 1 },
      });
    });
});

describe("somebody with the right to move", () => {
  it("orders it over the wire, and gets the same answer if it was lost", async () => {
    const [a, b] = [await place([echo], "inline"), await place([echo], "inline")];
    const caller = clientOf(a.host).session("s");
    await caller.request("r", use("echo", { n: 1 }));
    const operator = clientOf(a.host, { by: "op", rights: ["move"] });
    await expect(clientOf(a.host).session("s").move(b.host.url)).rejects.toMatchObject({ code: "permission_denied" });
    await expect(operator.move("session:none", b.host.url)).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(operator.move("elsewhere", b.host.url)).rejects.toMatchObject({ code: "scope_unknown" });
    const moved = operator.move(scope, b.host.url, { bodies: "finish", withinMs: 10_000 });
    operator.reconnect();
    await moved;
    await operator.move(scope, b.host.url);
    await expect(caller.open()).rejects.toMatchObject({ code: "moved", address: b.host.url });
    expect(await clientOf(b.host).session("s").replies("r")).toHaveLength(1);
  });
});

describe("a client that scopes move to", () => {
  const roots = { newest: { kid: "k", secret: new Uint8Array(32).fill(3) } };
  const runtimeWith = (instance: string, mover: (to: string) => Mover): Runtime =>
    new Runtime({ journal: memoryJournal(), platform: nodePlatform, tools: [echo], instance, roots, mover });
  const hostWithReceivers = (): Promise<Host> => {
    const receivers = new Receivers();
    return hostOf([], { receivers, runtime: runtimeWith("host", receivers.mover()) });
  };

  it("receives a session over its connection, and gives it back", async () => {
    const host = await hostWithReceivers();
    const page = clientOf(host, { by: "page", rights: ["move", "call", "observe"] });
    const tab = runtimeWith("tab", () => moverOver(page));
    const address = await page.receive("store-1", () => tab.moves.arrivals);
    expect(address).toBe("client:page/store-1");
    await page.session("s").request("r1", call(1));
    page.reconnect();
    await until(() => page.isConnected);
    await page.session("s").move(address);
    await expect(page.session("s").open()).rejects.toMatchObject({ code: "moved", address });
    expect(await (await tab.session("s")).request("r2", call(2))).toHaveLength(1);
    await tab.move(scope, host.url);
    expect(await page.session("s").replies("r1")).toHaveLength(1);
    expect(await page.session("s").request("r3", call(3))).toHaveLength(1);
  });

  it("receives none without the right, none of others' scopes, and none while it is away", async () => {
    const host = await hostWithReceivers();
    const ann = clientOf(host, { rights: ["call", "move"] });
    await ann.session("s").request("r", call(1));
    const tab = runtimeWith("tab", () => moverOver(ann));
    const arrivals = (): Mover => tab.moves.arrivals;
    const mute = clientOf(host, { by: "mute", rights: ["call"] });
    await expect(mute.receive("x", arrivals)).rejects.toMatchObject({ code: "permission_denied" });
    const other = clientOf(host, { by: "other", rights: ["move"], scopes: ["session:other"] });
    const theirs = await other.receive("x", arrivals);
    await expect(ann.session("s").move(theirs)).rejects.toMatchObject({ code: "permission_denied" });
    await expect(ann.session("s").move("client:nobody/x")).rejects.toMatchObject({ code: "receiver_away" });
    other.close();
    await until(() => host.connections === 2);
    await expect(ann.session("s").move(theirs)).rejects.toMatchObject({ code: "receiver_away" });
    expect(await ann.session("s").request("r2", call(2))).toHaveLength(1);
  });
});

describe("a host that scopes move to", () => {
  it("refuses senders without the right, and invalid packages", async () => {
    const { host, runtime } = await place([], "inline");
    const frame = { type: "move_part", id: 1, scope, nonce: "n", part: 0, parts: 1, text: "{}" };
    const mute = await greeted(host, { rights: ["call", "observe"] });
    expect(await mute.ask(frame)).toMatchObject({ type: "error", code: "permission_denied" });
    expect(await mute.ask({ ...frame, id: 2, type: "decline_move" })).toMatchObject({ code: "permission_denied" });
    const other = await greeted(host, { rights: ["move"], scopes: ["session:other"] });
    expect(await other.ask(frame)).toMatchObject({ type: "error", code: "permission_denied" });
    const raw = await greeted(host, { rights: ["move"] });
    const refused = { type: "move_answered", answer: { type: "refused", code: "invalid_package" } };
    expect(await raw.ask(frame)).toMatchObject(refused);
    expect(await raw.ask({ ...frame, id: 2, part: 3, parts: 4 })).toMatchObject({ answer: { type: "again" } });
    expect(await raw.ask({ ...frame, id: 3, scope: "elsewhere" })).toMatchObject({ code: "scope_unknown" });
    expect(await raw.ask({ ...frame, id: 4, type: "decline_move" })).toMatchObject({ answer: { type: "never" } });
    expect(await raw.ask({ ...frame, id: 5 })).toMatchObject({ answer: { type: "never" } });
    expect(await runtime.has(scope)).toBe(false);
  });
});

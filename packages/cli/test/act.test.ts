import { currentProtocol } from "@pawl/sansio-core";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineTool } from "@pawl/runtime";
import { tokenOf } from "@pawl/runtime/driver";
import { beforeEach, describe, expect, it } from "vitest";
import { openRuntime, sqliteJournal } from "@pawl/driver-node";
import { existingRootsOf } from "@pawl/driver-node/operator";
import { madeJournal, newFolder, tools } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

let file = "";
beforeEach(async () => {
  file = await madeJournal(newFolder());
});

const whyOf = async (scope: string): Promise<{ readonly [field: string]: unknown }> => {
  const [why] = jsonIn(await pawl(["why", scope, "-j", file, "--json"]));
  const calls = why?.["calls"] as readonly { readonly what: { readonly [field: string]: unknown } }[] | undefined;
  return calls?.[0]?.what ?? {};
};

/** Returns the outcome after a host with the tools has come back. */
const outcomeIn = async (session: string, tool: string, args: { readonly [name: string]: number }) => {
  const { runtime, close } = openRuntime({ file, tools });
  const open = await runtime.session(session);
  await open.report({ type: "executors.available", tools: tools.map(({ name }) => `tool:${name}`) });
  const [reply] = await open.request("r", [{ label: "c", tool, args }]);
  await close();
  return reply?.output.outcome;
};

describe("pawl approve and reject", () => {
  it("approve a call, which runs when a host is back", async () => {
    const { argsHash } = await whyOf("parked");
    const said = await pawl(["approve", "parked", "r:c", "--hash", String(argsHash), "-j", file, "--by", "ann"]);
    expect([said.code, said.out]).toEqual([0, "r:c is approved; the call is no_executor now\n"]);
    expect(await outcomeIn("parked", "guarded", { sum: 12 })).toMatchObject({ status: "success", payload: "done" });
    expect((await pawl(["log", "verify", file])).code).toBe(0);
  });

  it("list what waits with a number each, which stands for the call and its arguments", async () => {
    const listed = await pawl(["approve", "-j", file]);
    expect([listed.code, listed.out]).toEqual([0, 'session:parked\n  1  guarded {"sum":12}  pawl approve parked 1\n']);
    expect((await pawl(["reject", "parked", "-j", file])).out).toContain("pawl reject parked 1");
    const [json] = jsonIn(await pawl(["approve", "-j", file, "--json"]));
    expect(json).toMatchObject({ approvals: [{ scope: "session:parked", number: 1, call: "r:c", tool: "guarded" }] });
    const none = await pawl(["approve", "parked", "2", "-j", file]);
    expect([none.code, none.err]).toEqual([
      4,
      expect.stringContaining("session:parked has no approval 2: 1 call waits"),
    ]);
    expect((await pawl(["approve", "parked", "1", "-j", file, "--by", "ann"])).out).toContain("r:c is approved");
    expect((await pawl(["approve", "-j", file])).out).toBe("nothing waits for approval\n");
  });

  it("approve with other arguments, which the call then uses", async () => {
    const { argsHash } = await whyOf("parked");
    const line = ["approve", "parked", "r:c", "--hash", String(argsHash), "--args", '{"sum":3}', "-j", file];
    expect((await pawl(line)).code).toBe(0);
    expect(await whyOf("parked")).toMatchObject({ type: "executor" });
    expect((await pawl(["why", "parked", "-j", file])).out).toMatch(
      /waits for an executor of tool:guarded +since [^,\n]*\n/,
    );
    const [shown] = jsonIn(await pawl(["show", "parked", "-j", file, "--json"]));
    expect(shown).toMatchObject({ calls: [{ args: { sum: 3 } }] });
    expect(await outcomeIn("parked", "guarded", { sum: 12 })).toMatchObject({ status: "success" });
  });

  it("say that edited arguments are not checked yet, and why a call waits for approval again", async () => {
    const inputSchema = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] } as const;
    const pay = defineTool({
      name: "pay",
      durable: true,
      needsApproval: true,
      inputSchema,
      execute: () => "paid",
    });
    const at = join(newFolder(), "edited.db");
    const isParked = async (): Promise<void> => {
      const { runtime, close } = openRuntime({ file: at, tools: [pay] });
      const session = await runtime.session("s");
      void session.request("r", [{ label: "c", tool: "pay", args: { sum: 12 } }]).catch(() => undefined); // Nobody waits here.
      const waits = (): boolean => {
        const row = session.state.calls.at("r:c");
        return row?.phase === "awaiting_approval" && row.approval.edited === undefined;
      };
      await expect.poll(waits, { timeout: 30_000 }).toBe(true);
      await session.runner.whenDurable();
      await close();
    };
    await isParked();
    const { out } = await pawl(["why", "s", "-j", at]);
    const hash = /--hash (?<hash>\w+)/.exec(out)?.groups?.["hash"] ?? "";
    const said = await pawl(["approve", "s", "r:c", "--hash", hash, "--args", '{"sum":"x"}', "-j", at, "--by", "ann"]);
    expect([said.code, said.out]).toEqual([
      0,
      "r:c is approved with edits; a host still checks the arguments, and asks again if they do not fit; the call is awaiting_approval now\n",
    ]);
    await isParked();
    expect((await pawl(["why", "s", "-j", at])).out).toMatch(
      /^ {2}the arguments that ann approved do not fit \(event \d+\): arguments\.sum.*integer/m,
    );
    const [why] = jsonIn(await pawl(["why", "s", "-j", at, "--json"]));
    expect(why).toMatchObject({ calls: [{ what: { refused_edit: { by: "ann", message: expect.any(String) } } }] });
  });

  it("reject a call with a reason", async () => {
    const { argsHash } = await whyOf("parked");
    const said = await pawl(["reject", "parked", "r:c", "--hash", String(argsHash), "--reason", "no", "-j", file]);
    expect([said.code, said.out]).toEqual([0, "r:c is rejected; the call is ended now\n"]);
    expect(await outcomeIn("parked", "guarded", { sum: 12 })).toMatchObject({ status: "failure" });
  });

  it("require the hash of the arguments, and refuse a stale one", async () => {
    const { argsHash } = await whyOf("parked");
    const asked = await pawl(["approve", "parked", "r:c", "-j", file]);
    expect([asked.code, asked.err]).toEqual([
      2,
      `pawl: which arguments did you see? r:c wants to call guarded {"sum":12}\n  add --hash ${String(argsHash)}\n`,
    ]);
    const stale = await pawl(["approve", "parked", "r:c", "--hash", "other", "-j", file, "--json"]);
    expect([stale.code, JSON.parse(stale.out)]).toMatchObject([4, { error: { code: "stale_decision" } }]);
    expect((await pawl(["approve", "waiting", "r:c", "--hash", "x", "-j", file])).code).toBe(4);
    expect((await pawl(["approve", "parked", "r:x", "--hash", "x", "-j", file])).code).toBe(4);
    expect((await pawl(["approve", "parked", "r:c", "--args", "{", "--hash", "x", "-j", file])).code).toBe(2);
  });
});

describe("pawl resolve and cancel", () => {
  it("resolve a wait, so that the body continues at the next host", async () => {
    const { effects } = (await whyOf("waiting")) as {
      readonly effects: readonly { readonly what: { readonly wait: string } }[];
    };
    const key = effects[0]?.what.wait ?? "";
    const said = await pawl(["resolve", "waiting", key, "--ok", '{"yes":[1,2]}', "-j", file]);
    expect([said.code, said.out]).toEqual([0, `${key} is resolved\n`]);
    const twice = await pawl(["resolve", "waiting", key, "--ok", "2", "-j", file, "--json"]);
    expect([twice.code, JSON.parse(twice.out)]).toMatchObject([4, { error: { code: "already_resolved" } }]);
    expect(await outcomeIn("waiting", "work", {})).toMatchObject({
      status: "success",
      payload: ["12a", { yes: [1, 2] }, "paid"],
    });
  });

  it("take the token of a life that goes on, and of no other", async () => {
    const { effects } = (await whyOf("waiting")) as {
      readonly effects: readonly { readonly what: { readonly wait: string } }[];
    };
    const key = effects[0]?.what.wait ?? "";
    const roots = existingRootsOf(file);
    if (roots === undefined) throw new Error("the journal has no root secret");
    const of = (life: number): string => tokenOf(roots, "session:waiting", key, { call: "r:c", life });
    const late = await pawl(["resolve", "waiting", of(2), "--ok", "1", "-j", file, "--json"]);
    expect([late.code, JSON.parse(late.out)]).toMatchObject([4, { error: { code: "already_resolved" } }]);
    const said = await pawl(["resolve", "waiting", of(1), "--ok", '"paid"', "-j", file]);
    expect([said.code, said.out]).toEqual([0, `${key} is resolved\n`]);
    const log = await pawl(["log", "export", "waiting", "-j", file]);
    expect(log.out).toContain(`"call":"r:c","life":1`);
  });

  it("refuse an unknown key, and an empty resolution", async () => {
    expect((await pawl(["resolve", "waiting", "nothing", "--ok", "1", "-j", file])).code).toBe(4);
    expect((await pawl(["resolve", "waiting", "v1.k.i.s", "--ok", "1", "-j", file])).code).toBe(4);
    const { effects } = (await whyOf("waiting")) as {
      readonly effects: readonly { readonly what: { readonly wait: string } }[];
    };
    const key = effects[0]?.what.wait ?? "";
    expect((await pawl(["resolve", "waiting", key, "-j", file])).code).toBe(2);
    expect((await pawl(["resolve", "waiting", key, "--ok", "1", "--cancelled", "-j", file])).code).toBe(2);
    expect((await pawl(["resolve", "waiting", "r:c", "--outcome", "run-again", "-j", file])).code).toBe(4);
  });

  it("cancel a call and a request", async () => {
    expect((await pawl(["cancel", "waiting", "r:c", "-j", file])).code).toBe(0);
    expect((await pawl(["cancel", "parked", "r", "-j", file])).code).toBe(0);
    expect(await outcomeIn("waiting", "work", {})).toMatchObject({ status: "cancelled" });
    expect(await outcomeIn("parked", "guarded", { sum: 12 })).toMatchObject({ status: "cancelled" });
    expect((await pawl(["cancel", "done", "r", "-j", file])).code).toBe(4);
  });

  it("refuse a scope that a live host owns, and name the host", async () => {
    const host = sqliteJournal(file);
    await host.join("host-1", { ttlMs: 60_000, address: "ws://127.0.0.1:7777" });
    expect((await host.claim("session:waiting", "host-1", currentProtocol)).type).toBe("claimed");
    const { code, err } = await pawl(["cancel", "waiting", "r:c", "-j", file]);
    expect(code).toBe(3);
    expect(err).toContain("session:waiting is owned by host-1 at ws://127.0.0.1:7777, which is running");
    await host.leave("host-1");
    host.close();
    expect((await pawl(["cancel", "waiting", "r:c", "-j", file])).code).toBe(0);
  });
});

describe("pawl fork and doctor", () => {
  it("start a new session from a part of another, which then goes its own way", async () => {
    const said = await pawl(["fork", "waiting", "--at", "6", "-j", file]);
    expect([said.code, said.out.split("\n")]).toEqual([
      0,
      [
        "session:waiting-fork-6 starts with 6 events of session:waiting",
        "  1 live call: a host of this journal continues it within seconds, or as soon as one starts",
        "  to avoid that, fork a copy in a journal without a host: pawl help fork",
        "",
      ],
    ]);
    expect((await pawl(["log", "verify", file])).code).toBe(0);
    const { effects } = (await whyOf("waiting-fork-6")) as {
      readonly effects: readonly { readonly what: { readonly wait: string } }[];
    };
    const key = effects[0]?.what.wait ?? "";
    expect((await pawl(["resolve", "waiting-fork-6", key, "--ok", '"forked"', "-j", file])).code).toBe(0);
    expect(await outcomeIn("waiting-fork-6", "work", {})).toMatchObject({ payload: ["12a", "forked", "paid"] });
    expect(await whyOf("waiting")).toMatchObject({ type: "body" });
  });

  it("say who continues a fork: nobody unasked if nothing is due", async () => {
    const parked = await pawl(["fork", "parked", "--at", "4", "-j", file]);
    expect(parked.out).toContain("\n  1 live call: the next program that opens it continues it\n");
    const done = await pawl(["fork", "done", "--at", "5", "-j", file]);
    expect(done.out).toBe("session:done-fork-5 starts with 5 events of session:done\n");
    const [told] = jsonIn(await pawl(["fork", "waiting", "--at", "6", "--into", "two", "-j", file, "--json"]));
    expect(told).toMatchObject({ into: "session:two", live: 1, due: expect.any(Number) });
  });

  it("refuse to fork a missing event, and into an existing scope", async () => {
    expect((await pawl(["fork", "waiting", "-j", file])).code).toBe(2);
    expect((await pawl(["fork", "waiting", "--at", "99", "-j", file])).err).toContain(
      `pawl fork ${file}#session:waiting --at 6`,
    );
    expect((await pawl(["fork", "waiting", "--at", "2", "--into", "done", "-j", file])).code).toBe(4);
    expect((await pawl(["fork", "process:p", "--at", "2", "-j", file])).code).toBe(4);
  });

  it("find a quarantined scope among sound ones, and fork it before its fault", async () => {
    spoil("session:waiting");
    const found = await pawl(["doctor", file]);
    expect(found.code).toBe(1);
    expect(found.out).toContain("quarantined");
    expect(found.out).toContain("1 of 3 scopes is quarantined");
    const line = /^ {4}pawl (?<args>fork .*)$/m.exec(found.out)?.groups?.["args"] ?? "";
    expect(line).toBe(`fork ${file}#session:waiting --at 2`);
    expect((await pawl(line.split(" "))).code).toBe(0);
    expect((await pawl(["log", "verify", `${file}#waiting-fork-2`])).code).toBe(0);
    expect((await pawl(["cancel", "waiting", "r:c", "-j", file])).code).toBe(1);
    expect((await pawl(["doctor", `${file}#done`])).code).toBe(0);
  });
});

/** Changes a recorded event directly in the file. */
const spoil = (scope: string): void => {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  const rows = db.prepare("SELECT id, lines FROM append").all();
  const name = db.prepare("SELECT id FROM scope WHERE name = ?").get(scope)?.["id"];
  const of = new Set(
    db
      .prepare("SELECT id FROM append WHERE scope = ?")
      .all(name as number)
      .map(({ id }) => id),
  );
  for (const { id, lines } of rows) {
    if (of.has(id))
      db.prepare("UPDATE append SET lines = ? WHERE id = ?").run(
        String(lines).replace('"tool":"work"', '"tool":"wrok"'),
        id as number,
      );
  }
  db.close();
};

describe("a scope whose host is alive", () => {
  it("refuses changes, and the error names the host and the remedy", async () => {
    const { argsHash } = await whyOf("parked");
    const { effects } = (await whyOf("waiting")) as {
      readonly effects: readonly { readonly what: { readonly wait: string } }[];
    };
    const { runtime, close } = openRuntime({ file, tools });
    await runtime.session("waiting");
    await runtime.announce("ws://127.0.0.1:7777");
    const session = await runtime.session("parked");
    for (const line of [
      ["approve", "parked", "r:c", "--hash", String(argsHash)],
      ["cancel", "parked", "r:c"],
      ["resolve", "waiting", effects[0]?.what.wait ?? "", "--ok", "1"],
    ]) {
      const said = await pawl([...line, "-j", file, "--json"]);
      expect([said.code, JSON.parse(said.out)]).toMatchObject([
        3,
        {
          error: {
            code: "owned_by",
            message: expect.stringMatching(/session:\w+ is owned by node:\d+:\S+ at ws:.* which is running/),
            hint: expect.stringContaining("--host ws://127.0.0.1:7777"),
          },
        },
      ]);
    }
    await session.approve("r:c", { hash: String(argsHash), by: "ann" });
    expect((await session.replies("r"))[0]?.output.outcome).toMatchObject({ status: "success", payload: "done" });
    await close();
  });
});

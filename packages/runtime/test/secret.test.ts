/** Secrets of a session: read in steps, and found nowhere else. */
import { describe, expect, it } from "vitest";
import { why } from "@pawl/sansio-core";
import { type ToolContext, ToolError, defineTool } from "../src/index.ts";
import { type LogEntry, sealedJournal } from "../src/driver.ts";
import { World } from "./world.ts";

const value = "sk_live 51H/käse";
const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];

const tool = (name: string, execute: (ctx: ToolContext) => unknown) =>
  defineTool({ name, durable: true, execute: (_, ctx) => execute(ctx) });

/** Everything that anybody can read: texts of the store, entries of the log, reports, observations, answers. */
class Readers {
  readonly world = new World();
  readonly seen: string[] = [];
  readonly heard: string[] = [];

  #see = (...of: readonly unknown[]): void => {
    this.seen.push(
      JSON.stringify(of, (_, part: unknown) =>
        part instanceof Error
          ? [part.name, part.message, part.stack, { ...part }]
          : typeof part === "bigint"
            ? 0
            : part,
      ),
    );
  };

  start(tools: Parameters<World["start"]>[0]) {
    return this.world.start(tools, {
      log: (entry: LogEntry) => this.#see(entry),
      host: {
        internalError: (...of) => this.#see(...of),
        unheard: (failure) => this.#see(failure),
        observe: (...of) => this.#see(...of),
        rawOutput: async (output) => this.#see(output),
        request: async (...of) => (this.#see(...of), null),
      },
    });
  }

  /** Makes a call, and returns what its caller was told. */
  async call(execute: (ctx: ToolContext) => unknown): Promise<unknown> {
    const { runtime } = this.start([tool("t", execute)]);
    const session = await runtime.session("s");
    await session.secrets.set("stripe", value);
    const watched = (async () => {
      for await (const frame of session.observe()) this.#see(frame);
    })();
    const [reply] = await session.request("r", [{ label: "c", tool: "t", args: {} }], { keep: true });
    this.#see(reply, why(session.state), session.state, await session.status("r"));
    await runtime.close();
    await watched.catch(() => undefined);
    for (const { line } of await this.world.journal.read("session:s", 1)) this.seen.push(line);
    return reply?.output.outcome;
  }

  /** Expects the value nowhere, in any of its forms. */
  expectNothing(): void {
    const all = this.seen.join("\n");
    expect(all.length).toBeGreaterThan(1000);
    for (const form of forms) expect(all.split(form).length - 1, form).toBe(0);
  }
}

describe("a secret of a session", () => {
  it("is read by a step, and on record are its name and a digest", async () => {
    const readers = new Readers();
    const used: string[] = [];
    const outcome = await readers.call((ctx) =>
      ctx.run("pay", async ({ secret }) => {
        used.push(await secret("stripe"));
        return "paid";
      }),
    );
    expect(outcome).toMatchObject({ status: "success", payload: "paid" });
    expect(used).toEqual([value]);
    expect(readers.seen.join("\n")).toMatch(/"secret.kept","name":"stripe","digest":"[0-9a-f]{16}"/);
    readers.expectNothing();
  });

  it("is taken out of results, errors, chunks, messages and what the body ends with", async () => {
    const readers = new Readers();
    const outcome = await readers.call(async (ctx) => {
      let leaked = "";
      const result = await ctx.run("returns", async ({ secret }) => {
        leaked = await secret("stripe");
        return { header: `Bearer ${leaked}`, url: `https://a/?k=${encodeURIComponent(leaked)}`, [leaked]: 1 };
      });
      const refused = await ctx
        .run(
          "throws",
          async ({ secret }) => {
            throw Object.assign(new Error(`401 for ${await secret("stripe")}`), { config: { key: leaked } });
          },
          { retry: { attempts: 2, firstDelayMs: 0 } },
        )
        .catch((thrown: unknown) => thrown as Error);
      const chunks = await ctx.stream("says", async function* ({ secret }) {
        yield `with ${await secret("stripe")}`;
      });
      ctx.progress({ message: `has ${leaked}` });
      return { result, message: (refused as Error).message, config: { ...(refused as object) }, chunks, leaked };
    });
    const mark = "[secret stripe]";
    expect(outcome).toMatchObject({
      payload: {
        result: { header: `Bearer ${mark}`, url: `https://a/?k=${mark}`, [mark]: 1 },
        message: `401 for ${mark}`,
        config: { config: { key: mark } },
        chunks: [`with ${mark}`],
        leaked: mark,
      },
    });
    readers.expectNothing();
  });

  it("is taken out of what a body throws, for the model and for the host's log", async () => {
    for (const make of [(text: string) => new ToolError(text), (text: string) => new TypeError(text)]) {
      const readers = new Readers();
      const outcome = await readers.call(async (ctx) => {
        let leaked = "";
        await ctx.run("reads", async ({ secret }) => void (leaked = await secret("stripe")));
        throw make(`no entry with ${leaked}`);
      });
      expect(outcome).toMatchObject({ status: "failure" });
      expect(readers.seen.join("\n")).toContain("no entry with [secret stripe]");
      readers.expectNothing();
    }
  });

  it("refuses a request that would put it on record", async () => {
    const readers = new Readers();
    const outcome = await readers.call(async (ctx) => {
      let leaked = "";
      await ctx.run("reads", async ({ secret }) => void (leaked = await secret("stripe")));
      const asks = [
        () => ctx.run("again", () => 1, { input: { leaked } }),
        () => ctx.host("mail", { to: leaked }),
        () => ctx.approve({ title: `Use ${leaked}?` }),
        () => ctx.store.set("copy", leaked),
        () => ctx.callAll([{ label: "1", tool: "t", args: { leaked } }]),
      ];
      return Promise.all(
        asks.map((ask) =>
          ask().then(
            () => "taken",
            (thrown: unknown) => (thrown as { code: string }).code,
          ),
        ),
      );
    });
    expect(outcome).toMatchObject({ payload: Array.from({ length: 5 }, () => "secret_on_record") });
    readers.expectNothing();
  });

  it("is there after a crash, replaced by another value, and gone once it is removed", async () => {
    const world = new World();
    const read = tool("t", (ctx) => ctx.run("reads", async ({ secret }) => (await secret("stripe")).length));
    const first = world.start([read], { snapshotAfter: 1 });
    const session = await first.runtime.session("s");
    await session.secrets.set("stripe", value);
    await session.secrets.set("other", "12345678");
    const [before] = (await session.secrets.list()).filter(({ name }) => name === "stripe");
    await world.quiet();
    first.kill();
    const again = await world.start([read]).runtime.session("s");
    expect(await again.secrets.get("stripe")).toBe(value);
    expect(await again.call("t", {}, { id: "r1" })).toBe(value.length);
    await again.secrets.set("stripe", "a longer value than before");
    expect(await again.call("t", {}, { id: "r2" })).toBe(26);
    const entries = await again.secrets.list();
    expect(entries.map(({ name }) => name)).toEqual(["other", "stripe"]);
    expect(entries[1]?.digest).not.toBe(before?.digest);
    await again.secrets.set("stripe", undefined);
    await expect(again.call("t", {}, { id: "r3" })).rejects.toThrow();
    expect(await again.secrets.get("stripe")).toBeUndefined();
  });

  it("is bound to its session, its name and the root of its store", async () => {
    const world = new World();
    const { runtime } = world.start([]);
    const [one, other] = [await runtime.session("one"), await runtime.session("other")];
    await one.secrets.set("a", value);
    const [sealed] = [...one.state.about.secrets].map(([, secret]) => secret);
    if (sealed === undefined) throw new Error("expected a secret");
    await one.report({ type: "secret.kept", name: "b", ...sealed });
    await other.report({ type: "secret.kept", name: "a", ...sealed });
    await expect(one.secrets.get("b")).rejects.toMatchObject({ code: "secret_closed" });
    await expect(other.secrets.get("a")).rejects.toMatchObject({ code: "secret_closed" });
    expect(await one.secrets.get("a")).toBe(value);
  });

  it("refuses what is no secret", async () => {
    const session = await new World().start([]).runtime.session("s");
    await expect(session.secrets.set(" ", value)).rejects.toMatchObject({ code: "empty_id" });
    await expect(session.secrets.set("a", "short")).rejects.toThrow(/expected a text of 8 to 32768 characters, found/);
    await expect(session.secrets.set("a", 12345678 as never)).rejects.toMatchObject({ code: "invalid_argument" });
    const old = await new World(1).start([]).runtime.session("s");
    await expect(old.secrets.set("a", value)).rejects.toMatchObject({ code: "needs_protocol_2" });
  });

  it("is sealed once more by a journal that seals values", async () => {
    const world = new World();
    const lines: string[] = [];
    const codec = {
      seal: (_: unknown, bytes: Uint8Array) => bytes.map((b) => b ^ 1),
      open: (_: unknown, bytes: Uint8Array) => bytes.map((b) => b ^ 1),
    };
    const { runtime } = world.start([], { faulty: sealedJournal(world.journal, codec) });
    const session = await runtime.session("s");
    await session.secrets.set("a", value);
    expect(await session.secrets.get("a")).toBe(value);
    for (const { line } of await world.journal.read("session:s", 1)) lines.push(line);
    expect(lines.find((line) => line.includes("secret.kept"))).toContain('"sealed":[]');
  });
});

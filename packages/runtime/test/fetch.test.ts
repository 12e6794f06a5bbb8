/** `durableFetch`: what a service is asked, what is on record of it, and what a program is given in each run. */
import { describe, expect, it } from "vitest";
import { type DurableFetchOptions, type Session, type ToolContext, defineTool, durableFetch } from "../src/index.ts";
import { World } from "./world.ts";

const address = "https://api.example.com/v1/answers?key=s3cret&lang=en";
const init = { method: "POST", body: '{"ask":1}', headers: { authorization: "Bearer s3cret" } };
const streamed = { ...init, body: '{"ask":1,"stream":true}' };

type Answer = (request: { readonly number: number; readonly key: string | null }) => Response | Promise<Response>;

/** A service that counts what it is asked. */
const service = (answer: Answer) => {
  const keys: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_url, sent) => {
    const key = new Headers(sent?.headers).get("idempotency-key");
    keys.push(key);
    return answer({ number: keys.length, key });
  };
  return { keys, fetch };
};

/** A service that says a word whenever it is let. */
const speaker = (status = 200) => {
  const said: ReadableStreamDefaultController<Uint8Array>[] = [];
  const stopped: number[] = [];
  const made = service(({ number }) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void said.push(controller),
      cancel: () => void stopped.push(number),
    });
    return new Response(body, { status, headers: { "content-type": "text/event-stream" } });
  });
  const last = () => said.at(-1) as ReadableStreamDefaultController<Uint8Array>;
  const say = (text: string): void => last().enqueue(new TextEncoder().encode(text));
  return { ...made, say, stopped, last };
};

type Fetch = typeof globalThis.fetch;

interface Told {
  payload?: unknown;
  code?: unknown;
}

/** A world in which a call runs a body with a durable `fetch`; `again` starts another process. */
const begin = async (
  options: DurableFetchOptions,
  body: (fetch: Fetch, ctx: ToolContext) => Promise<unknown>,
  world = new World(),
) => {
  const execute = (_: unknown, ctx: ToolContext) =>
    body(durableFetch(ctx, { firstDelayMs: 1, maxDelayMs: 50, ...options }), ctx).catch(
      (thrown: { readonly code?: string; readonly message?: string }) => ({ code: thrown.code ?? thrown.message }),
    );
  const tool = defineTool({ name: "tool", durable: true, execute });
  const told: Told = {};
  const start = async () => {
    const process = world.start([tool]);
    const session = await process.runtime.session("s");
    void session.request("r", [{ label: "c", tool: "tool", args: {} }]).then(
      ([reply]) => (told.payload = reply?.output.outcome.payload),
      () => undefined,
    );
    await world.quiet();
    return { process, session };
  };
  const first = await start();
  return { world, told, start, ...first };
};

/** Waits until it holds, with time passing both here and in the world. */
const until = async (world: World, holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 200 && !holds(); i++) {
    world.platform.advance(20);
    await new Promise((resolve) => setTimeout(resolve, 2));
    await world.quiet(4);
  }
  expect(holds()).toBe(true);
};

const logOf = async ({ journal }: World): Promise<string> =>
  (await journal.read("session:s", 1)).map(({ line }) => line).join("\n");

const json = (value: unknown, more: ResponseInit = {}): Response => Response.json(value, more);

describe("a whole answer", () => {
  it("is asked for once, over a restart, with the headers of a list and no secret on record", async () => {
    const headers = { "x-request-id": "q1", "set-cookie": "s3cret=1", "x-mine": "kept", "x-other": "gone" };
    const { fetch, keys } = service(({ number }) => json({ number, word: "déjà" }, { status: 201, headers }));
    const { world, told, process, start } = await begin({ fetch, keepHeaders: ["X-Mine"] }, async (ask, ctx) => {
      const response = await ask(address, init);
      const heard = [response.status, response.url, [...response.headers], await response.json()];
      await ctx.sleep(1000);
      return heard;
    });
    process.kill();
    await start();
    await until(world, () => told.payload !== undefined);
    expect(keys).toEqual([null]);
    expect(told.payload).toEqual([
      201,
      "https://api.example.com/v1/answers?lang=en",
      [
        ["content-type", "application/json"],
        ["x-mine", "kept"],
        ["x-request-id", "q1"],
      ],
      { number: 1, word: "déjà" },
    ]);
    const log = await logOf(world);
    expect(log).toContain("POST api.example.com/v1/answers?lang=en ");
    expect(log).not.toContain("s3cret");
  });

  it("is a step for each request, also where two are equal or are asked at once", async () => {
    const { fetch, keys } = service(({ number }) => json(number));
    const { world, told, process, start } = await begin({ fetch }, async (ask, ctx) => {
      const bytes = { ...init, body: new TextEncoder().encode(init.body) };
      const asks = [
        ask(address, init),
        ask(new URL(address), bytes),
        ask(new Request(address, { ...init, body: "2" })),
      ];
      const heard = await Promise.all(asks.map(async (one) => (await one).json()));
      await ctx.sleep(1000);
      return heard;
    });
    await until(world, () => keys.length === 3);
    process.kill();
    await start();
    await until(world, () => told.payload !== undefined);
    expect([keys.length, told.payload]).toEqual([3, [1, 2, 3]]);
  });

  it("keeps bytes as bytes", async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, i) => i % 256);
    const { fetch } = service(() => new Response(bytes, { headers: { "content-type": "image/png" } }));
    const { world, told } = await begin({ fetch }, async (ask) => [
      ...new Uint8Array(await (await ask(address)).arrayBuffer()),
    ]);
    await until(world, () => told.payload !== undefined);
    expect(told.payload).toEqual([...bytes]);
  });

  it("is refused by name where it is larger than the bound", async () => {
    const { fetch } = service(() => new Response("x".repeat(2000)));
    const { world, told } = await begin({ fetch, maxBytes: 1000 }, (ask) => ask(address, init));
    await until(world, () => told.payload !== undefined);
    expect(told.payload).toEqual({ code: "response_too_large" });
  });
});

const busyTwice = (busy: () => Response) => service(({ number }) => (number < 3 ? busy() : json("done")));
const asking = async (fetch: Fetch, options: DurableFetchOptions = {}) => {
  const { world, told } = await begin({ fetch, ...options }, async (ask) => {
    const response = await ask(address, init);
    return [response.status, await response.text()];
  });
  await until(world, () => told.payload !== undefined);
  return told.payload;
};

const broken = (): Response =>
  new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }));

describe("a service that is busy", () => {
  it.each([408, 429, 500, 503, 529])("is asked again after %i, within the step and under one key", async (status) => {
    const { fetch, keys } = busyTwice(() => new Response("busy", { status, headers: { "retry-after-ms": "5" } }));
    expect(await asking(fetch, { idempotencyKey: true })).toEqual([200, '"done"']);
    expect(keys.length).toBe(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toEqual(expect.any(String));
  });

  it("is asked again where the connection breaks, also under the body", async () => {
    const { fetch, keys } = busyTwice(broken);
    expect(await asking(fetch)).toEqual([200, '"done"']);
    expect(keys.length).toBe(3);
  });

  it("has its own answer handed on where it wants more time than is given, or is asked often enough", async () => {
    const long = service(() => new Response("later", { status: 429, headers: { "retry-after": "3600" } }));
    expect(await asking(long.fetch)).toEqual([429, "later"]);
    expect(long.keys.length).toBe(1);
    const often = service(() => new Response("no", { status: 503 }));
    expect(await asking(often.fetch, { attempts: 3 })).toEqual([503, "no"]);
    expect(often.keys.length).toBe(3);
  });

  it("is not asked again where it says what is wrong with the request", async () => {
    const { fetch, keys } = service(() => new Response("bad", { status: 400 }));
    expect(await asking(fetch)).toEqual([400, "bad"]);
    expect(keys.length).toBe(1);
  });
});

/** Reads an answer, and shows how far it is. */
const reading = (heard: string[]) => async (ask: Fetch, ctx: ToolContext) => {
  const response = await ask(address, streamed);
  heard.push(`${response.status}`);
  for await (const bytes of response.body ?? []) heard.push(new TextDecoder().decode(bytes));
  heard.push("end");
  await ctx.sleep(100_000);
  return heard;
};
const nameIn = async (session: Session): Promise<string> => {
  const named = [...session.state.calls.rows()].flatMap((row) => JSON.stringify(row).match(/POST [^"]+/) ?? []);
  return named[0] as string;
};

describe("an answer in parts", () => {
  it("reaches the program as it comes, and its end when all of it is on record", async () => {
    const heard: string[] = [];
    const { fetch, say, last, keys } = speaker();
    const { world, process, start } = await begin({ fetch }, reading(heard));
    say("one ");
    await until(world, () => heard.length === 2);
    expect(await logOf(world)).not.toContain('"end"');
    say("two ü");
    await until(world, () => heard.length === 3);
    last().close();
    await until(world, () => heard.at(-1) === "end");
    expect(await logOf(world)).toContain("two ü");
    expect(heard).toEqual(["200", "one ", "two ü", "end"]);
    process.kill();
    heard.length = 0;
    await start();
    await until(world, () => heard.at(-1) === "end");
    expect(heard.join("")).toBe("200one two üend");
    expect(keys.length).toBe(1);
  });

  it("is asked for again after a crash under way, and its readers are told to drop what they have of it", async () => {
    const heard: string[] = [];
    const { fetch, say, last, keys } = speaker();
    const { world, process, start } = await begin({ fetch, idempotencyKey: "x-once" }, reading(heard));
    say("half of the fir");
    await until(world, () => heard.length === 2);
    world.platform.advance(300); // The group of it is on record.
    await world.quiet();
    process.kill();
    heard.length = 0;
    const { session } = await start();
    await until(world, () => keys.length === 2);
    say("the second");
    last().close();
    await until(world, () => heard.at(-1) === "end");
    expect(heard).toEqual(["200", "the second", "end"]);
    const frames: string[] = [];
    const leave = new AbortController();
    const stream = session.stream("r:c", { name: await nameIn(session), signal: leave.signal });
    for await (const frame of stream) {
      frames.push(frame.type === "chunks" ? JSON.stringify(frame.chunks.slice(-1)) : frame.type);
      if (frame.type === "end") break;
    }
    leave.abort();
    expect(frames).toEqual(['["half of the fir"]', "reset", '["the second"]', "end"]);
  });

  it("that is an error is handed on when it is on record: programs act on it at once", async () => {
    const heard: string[] = [];
    const { fetch, say, last } = speaker(400);
    const { world } = await begin({ fetch }, reading(heard));
    say("wrong");
    await world.quiet();
    expect(heard).toEqual([]);
    last().close();
    await until(world, () => heard.length === 3);
    expect(heard).toEqual(["400", "wrong", "end"]);
  });

  it("waits for its record from the start with `live: false`", async () => {
    const heard: string[] = [];
    const { fetch, say, last } = speaker();
    const { world } = await begin({ fetch, live: false }, reading(heard));
    say("one");
    await until(world, () => true);
    expect(heard).toEqual([]);
    last().close();
    await until(world, () => heard.length === 3);
    expect(heard).toEqual(["200", "one", "end"]);
  });

  it("that breaks under way breaks for the program as well, in every run", async () => {
    const heard: string[] = [];
    const { fetch, say, last, keys } = speaker();
    const body = async (ask: Fetch, ctx: ToolContext) => {
      await reading(heard)(ask, ctx).catch((thrown: Error) => heard.push(thrown.message));
      await ctx.sleep(100_000);
    };
    const { world, process, start } = await begin({ fetch }, body);
    say("half");
    await until(world, () => heard.length === 2);
    last().error(new TypeError("terminated"));
    await until(world, () => heard.length === 3);
    process.kill();
    await start();
    await until(world, () => heard.length === 6);
    expect(keys.length).toBe(1);
    expect(heard).toEqual(["200", "half", "terminated", "200", "half", "terminated"]);
  });

  it("is stopped by a program that leaves it, which goes on when the rest is on record", async () => {
    const heard: string[] = [];
    const { fetch, say, stopped, keys } = speaker();
    const body = async (ask: Fetch, ctx: ToolContext) => {
      const { body: parts } = await ask(address, streamed);
      for await (const bytes of parts ?? []) {
        heard.push(new TextDecoder().decode(bytes));
        break;
      }
      heard.push(await ctx.run("next", () => "next"));
      await ctx.sleep(100_000);
    };
    const { world, process, start } = await begin({ fetch }, body);
    say("one");
    await until(world, () => heard.length === 2);
    expect(stopped).toEqual([1]);
    process.kill();
    await start();
    await until(world, () => heard.length === 4);
    expect(heard).toEqual(["one", "next", "one", "next"]);
    expect(keys.length).toBe(1);
  });
});

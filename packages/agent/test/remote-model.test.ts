/** A model that a host asks for a page: streamed over connections that break, paid once, and given to whoever may ask. */
import { type ModelCall, ModelError } from "@pawl/runtime/driver";
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import {
  type ModelHandlerOptions,
  type RemoteModelOptions,
  agentHost,
  defineAgent,
  modelHandler,
  remoteModel,
  scriptedModel,
} from "../src/index.ts";
import { framesOf, open, textOf } from "./world.ts";

const look = defineTool({ name: "look", readOnly: true, execute: () => "a wheel" });

/** Cuts a body after so many bytes, as a network does. */
const cutAfter = (response: Response, bytes: number): Response => {
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, to) => {
      bytes -= chunk.length;
      if (bytes >= 0) to.enqueue(chunk);
      else to.error(new Error("the connection broke"));
    },
  });
  return new Response(response.body?.pipeThrough(cut) ?? null, response);
};

type Send = NonNullable<RemoteModelOptions["send"]>;

const principal = ({ headers }: Request): string | undefined => headers.get("authorization") ?? undefined;

/** A host with a scripted model, and pages that ask it. */
const hosting = (options: Partial<ModelHandlerOptions> = {}, wordMs = 0) => {
  const asked: ModelCall[] = [];
  const script = [{ text: "Let me look at it. ", calls: [{ tool: "look" }] }, "It is a wheel, and it turns one way."];
  const real = scriptedModel(script, { wordMs, asked: (call) => asked.push(call) });
  const handler = modelHandler({ models: [real], principal, ...options });
  const direct: Send = (url, init) => handler.handle(new Request(url, init));
  const page = (send: Send = direct, by = "ann", more: Partial<RemoteModelOptions> = {}) =>
    remoteModel("http://localhost/models", {
      provider: "scripted",
      model: "script",
      headers: () => ({ authorization: by }),
      send,
      ...more,
    });
  return { asked, handler, direct, page };
};

const agentOf = (model: ReturnType<ReturnType<typeof hosting>["page"]>) => defineAgent({ model, tools: [look] });

const question = (from: number, attempt: number, text = "hi") => ({
  model: { provider: "scripted", model: "script" },
  key: "k",
  from,
  request: "t1",
  n: 1,
  attempt,
  tools: [],
  tool_choice: "auto",
  settings: null,
  files: {},
  prompt: [{ role: "user", content: [{ type: "text", text }] }],
});

describe("a model that a host asks", () => {
  it("answers a page word by word, with the calls that it wants, as if the page had its key", async () => {
    const { asked, page } = hosting();
    const agent = agentOf(page());
    const { session, close } = await open([agent]);
    const turn = agent.turn(session, "What is it?", { id: "t1" });
    const frames = await framesOf(turn);
    expect(textOf(frames)).toBe("Let me look at it. It is a wheel, and it turns one way.");
    expect(await turn.end).toMatchObject({ status: "finished", used: { model_calls: 2 } });
    expect(asked.map(({ key }) => key)).toEqual(["session:s/t1:model:1.0", "session:s/t1:model:2.0"]);
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(["look"]);
    await close();
  });

  it("goes on behind the last line where the connection breaks, wherever that is, and is paid once", async () => {
    for (let bytes = 40; bytes <= 640; bytes += 60) {
      const { asked, page, direct } = hosting();
      let isFirst = true;
      const send: Send = async (url, init) => {
        const response = await direct(url, init);
        const isCut = isFirst;
        isFirst = false;
        return isCut ? cutAfter(response, bytes) : response;
      };
      const agent = agentOf(page(send));
      const { session, close } = await open([agent]);
      const turn = agent.turn(session, "What is it?", { id: "t1" });
      expect(textOf(await framesOf(turn)), `cut after ${bytes} bytes`).toBe(
        "Let me look at it. It is a wheel, and it turns one way.",
      );
      expect(asked).toHaveLength(2);
      await close();
    }
  });

  it("gives a page that died the same answer, under the same key, and others nothing of it", async () => {
    const { asked, direct, handler } = hosting({}, 20);
    const post = (body: object, by = "ann", signal?: AbortSignal): Promise<Response> =>
      direct("http://localhost/models", {
        method: "POST",
        body: JSON.stringify(body),
        headers: { authorization: by },
        ...(signal === undefined ? {} : { signal }),
      });
    const died = new AbortController();
    const first = await post(question(0, 1), "ann", died.signal);
    await first.body?.getReader().read();
    died.abort();
    const again = (await (await post(question(0, 2))).text()).trim().split("\n");
    expect(JSON.parse(again.at(-1) ?? "")).toMatchObject({ type: "answer", finish: { reason: "tool-calls" } });
    expect(asked).toHaveLength(1);
    expect((await (await post(question(3, 3))).text()).trim().split("\n")).toEqual(again.slice(3));
    expect((await post(question(0, 1, "other"))).status).toBe(409);
    expect((await post(question(3, 1), "bob")).status).toBe(410);
    expect(asked).toHaveLength(1);
    await (await post(question(0, 1), "bob")).text();
    expect(asked).toHaveLength(2);
    handler.close();
  });

  it("is refused to whoever may not ask it, and where it is not served", async () => {
    const { page, direct } = hosting({ may: (by) => by === "ann" });
    const askedAs = async (model: ReturnType<typeof page>) => {
      const agent = agentOf(model);
      const { session, close } = await open([agent]);
      const end = await agent.turn(session, "What is it?", { id: "t1" }).end;
      await close();
      return end;
    };
    expect(await askedAs(page(direct, "bob"))).toMatchObject({ status: "failed", code: "model_auth" });
    expect(await askedAs(page(direct, "ann", { model: "other" }))).toMatchObject({ code: "model_unavailable" });
    expect((await direct("http://localhost/models", { method: "POST", body: "{}" })).status).toBe(401);
    const bad = { method: "POST", body: "{", headers: { authorization: "ann" } };
    expect((await direct("http://localhost/models", bad)).status).toBe(400);
  });

  it("is stopped at its provider when the page stops its turn", async () => {
    const { asked, page } = hosting({}, 50);
    const agent = agentOf(page());
    const { session, close } = await open([agent]);
    const turn = agent.turn(session, "What is it?", { id: "t1" });
    for await (const frame of turn) if (frame.type === "text") break;
    await turn.stop();
    expect(await turn.end).toMatchObject({ status: "stopped", because: "cancelled" });
    await expect.poll(() => asked[0]?.signal.aborted, { timeout: 20_000 }).toBe(true);
    await close();
  });

  it("fails as its provider did, and gives up a host that is not reached", async () => {
    const failing = scriptedModel([{ text: "later", fails: [{ class: "quota", message: "no more" }] }]);
    const handler = modelHandler({ models: [failing], principal: () => "ann" });
    const of = { provider: "scripted", model: "script" };
    const served = remoteModel("http://localhost/m", {
      ...of,
      send: (url, init) => handler.handle(new Request(url, init)),
    });
    const lost = remoteModel("http://localhost/m", {
      ...of,
      patienceMs: 0,
      send: () => Promise.reject(new Error("no network")),
    });
    const call = {
      key: "k.0",
      prompt: [],
      tools: [],
      signal: new AbortController().signal,
      settings: null,
      toolChoice: "auto",
    };
    const asked = { ...call, request: "t", n: 1, attempt: 1 } as unknown as ModelCall;
    await expect(served.port.ask(asked)).rejects.toMatchObject({ kind: "quota", message: "no more" });
    await expect(lost.port.ask(asked)).rejects.toMatchObject({ kind: "transport" });
    await expect(lost.port.ask(asked)).rejects.toBeInstanceOf(ModelError);
    expect(agentHost([defineAgent({ model: served })]).host.models).toBeDefined();
  });
});

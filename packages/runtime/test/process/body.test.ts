/** Processes that bodies start, await, signal and cancel. */
import { describe, expect, it } from "vitest";
import { World } from "../world.ts";
import { eventType, program, reply, told, toolCall } from "./world.ts";

describe("a body's processes", () => {
  const worker = program("work", async () => "worked");

  it("are refused where it has no handle, also when it awaits them in a race", async () => {
    const text = "process handle `stranger` is not live or visible in this session";
    const found = await reply(async ({ processes, race, sleep }) => [
      await told(processes.cancel("stranger")),
      await told(processes.signal("stranger", "go", null)),
      await told(processes.await("stranger")),
      await told(processes.signal("stranger", "a b", null)),
      await told(processes.validateHandles(["stranger"])),
      await told(processes.transferHandles("t", ["stranger"])),
      await told(race([sleep(5), processes.await("stranger")])),
    ]);
    expect(found).toEqual([
      ["handle_refused", text],
      ["handle_refused", text],
      ["handle_refused", text],
      ["process_refused", expect.stringContaining("got `a b`")],
      ["handle_refused", "process handle `stranger` is not granted to session `s`"],
      ["handle_refused", "process handle `stranger` is not granted to session `s`"],
      ["handle_refused", text],
    ]);
  });

  it("conflict when another is started under the same id", async () => {
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("work") });
        const again = await processes.start({ id: "p", input: toolCall("work") });
        return [again.id, await told(processes.start({ id: "p", input: toolCall("work", { other: 1 }) }))];
      },
      [worker],
    );
    expect(found).toEqual(["p", ["process_conflict", expect.stringContaining("registration hash conflict")]]);
  });

  it("conflict when a signal of the same id says something else", async () => {
    const idle = program("idle", ({ waitFor }) => waitFor("never"));
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("idle"), eventTypes: [eventType("signal.go")] });
        const once = await processes.signal("p", "go", 1);
        const twice = await processes.signal("p", "go", 1);
        return [once.sequence === twice.sequence, await told(processes.signal("p", "go", 2))];
      },
      [idle],
    );
    const conflict =
      "process `p` event replay key `process:p:signal.go:session:s/r/b` conflicts with an existing event";
    expect(found).toEqual([true, ["process_conflict", conflict]]);
  });

  it("are listed, handed to a frame, and cancelled but for those to keep", async () => {
    const idle = program("idle", ({ waitFor }) => waitFor("never"));
    const found = await reply(
      async ({ processes }) => {
        for (const id of ["a", "b", "c"]) await processes.start({ id, input: toolCall("idle") });
        await processes.transferHandlesToFrame("f", ["c"]);
        const listed = (await processes.listHandles()).map(({ id }) => id);
        const cancelled = await processes.cancelUnreferencedHandles(["a"]);
        const end = await processes.await("b");
        const astray = await told(processes.transferHandles(5 as never, ["a"]));
        expect(astray).toEqual(["durable_effect_value", expect.stringContaining("$.to.session_id")]);
        const all = (await processes.listAllHandles()).map(({ id, status }) => [id, status]);
        return [listed, cancelled, end.type, all, await told(processes.validateHandles(["c"]))];
      },
      [idle],
    );
    expect(found).toEqual([
      ["a", "b"],
      [{ process_id: "b", status: "running" }],
      "cancelled",
      [
        ["a", "running"],
        ["b", "cancelled"],
      ],
      ["handle_refused", "process handle `c` is not granted to session `s`"],
    ]);
  });

  it("are asked to end when its wait for them is called off, and their real end is awaited", async () => {
    const idle = program("idle", ({ waitFor }) => waitFor("never"));
    const found = await reply(
      async ({ processes, sleep }) => {
        await processes.start({ id: "a", input: toolCall("idle") });
        const stop = new AbortController();
        const end = processes.await("a", { signal: stop.signal });
        await sleep(10);
        stop.abort();
        return (await end).type;
      },
      [idle],
    );
    expect(found).toBe("cancelled");
  });

  it("can start others, on behalf of the session, and await them", async () => {
    const parent = program("parent", async ({ processes }) => {
      await processes.start({ id: "child", input: toolCall("work") });
      return [await processes.await("child"), await told(processes.await("stranger")), await processes.listHandles()];
    });
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("parent") });
        const end = await processes.await("p");
        return [end, (await processes.listAllHandles()).map(({ id }) => id)];
      },
      [worker, parent],
    );
    const refusal = ["handle_refused", "process handle `stranger` is not live or visible in this session"];
    expect(found).toEqual([
      { type: "success", value: [{ type: "success", value: "worked" }, refusal, []] },
      ["p", "child"],
    ]);
  });

  it("wait until their link has room for what they say", async () => {
    const world = new World();
    const listening = program("work", async ({ processEvents }) => {
      const heard: unknown[] = [];
      for (let i = 0; i < 5; i++) heard.push(await processEvents.awaitSignal("go"));
      return heard;
    });
    const body = program("body", async ({ processes }) => {
      await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
      const said = [0, 1, 2, 3, 4].map((n) => processes.signal("p", "go", n, `s${n}`));
      await Promise.all(said);
      return processes.await("p");
    });
    const { runtime } = world.start([body, listening], { options: { maxUnanswered: 1 } });
    const replies = await (await runtime.session("s")).request("r", [{ label: "b", tool: "body", args: {} }]);
    expect(replies[0]?.output.outcome).toMatchObject({ payload: { value: [0, 1, 2, 3, 4] } });
  });
});

/** Probes of monitors: a tool that runs before the session is told. */
import { expect, it } from "vitest";
import { type ExecutionResult, connectionRequired, internalError, success } from "@pawl/runtime";
import { sessionTools } from "@pawl/tools";
import { ToolWorld } from "./world.ts";

/** Fires a monitor whose probe has this result; returns the task, the messages to the session, and the log entries. */
const fired = async (result: ExecutionResult) => {
  const world = new ToolWorld();
  const probe = { name: "look", description: "", parameters: {}, execute: async () => result };
  const { tools, host } = sessionTools({ probes: [probe], now: world.platform.now });
  const logged: unknown[] = [];
  const internal = (_: string, thrown: unknown): void => void logged.push(thrown);
  const tell = async ({ text }: { readonly text: string }): Promise<void> => void heard.push(text);
  const heard: string[] = [];
  const work = world.start(tools, { host: { ...host, tell, internalError: internal } }).runtime.background.of("s");
  const monitor = { task: "task_1", title: "Watch", tool: "look", arguments: {}, signal_on_completion: true };
  const at = world.platform.now() + 60_000;
  await work.schedule({ id: "sched_1", description: "Look!", timezone: "UTC", scheduled_at: at, monitor });
  await world.quiet();
  world.platform.advance(60_001);
  await world.quiet();
  const [said] = await work.messages("task_1");
  const [part] = said?.content ?? [];
  return { said: part?.type === "text" ? part.text : "", heard, logged };
};

it("that succeeds updates the monitor's task, and the session is not told", async () => {
  expect(await fired(success("all quiet"))).toEqual({
    said: expect.stringMatching(/^Probe `look` succeeded at .*Z\.\n\nall quiet$/) as string,
    heard: [],
    logged: [],
  });
});

it("that throws is logged in full, and the session is told that its monitor fired", async () => {
  const failure = new Error("no answer", { cause: new Error("socket closed") });
  const { said, heard, logged } = await fired(internalError(failure));
  expect(said).toMatch(/^Monitor fired at .*Z\.$/);
  expect([heard, logged]).toEqual([["Look!"], [failure]]);
});

it("that needs a connection is skipped", async () => {
  expect(await fired(connectionRequired("github"))).toMatchObject({ heard: ["Look!"], logged: [] });
});

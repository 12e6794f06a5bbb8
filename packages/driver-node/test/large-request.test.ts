/**
 * One request of as many calls as a request may have: others are served between its slices. What it costs is counted in
 * processor time of this thread, since other processes of the machine have their share of the clock.
 */
import { type Session, defineTool } from "@pawl/runtime";
import { afterAll, expect, it } from "vitest";
import { type OpenRuntime, openRuntime } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
const opened: OpenRuntime[] = [];
afterAll(async () => {
  for (const { close } of opened) await close();
  remove();
});

const echo = defineTool({ name: "echo", execute: (args) => args });
const checked = defineTool({
  name: "checked",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const,
  execute: ({ n }) => n,
});

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const sessionIn = async (name: string): Promise<Session> => {
  const open = openRuntime({ file: file(name), tools: [echo, checked] });
  opened.push(open);
  return open.runtime.session("s");
};

const callsOf = (tool: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ label: `c${n}`, tool, args: { n } }));

/** Returns the processor time of some work, and the most that one turn of the event loop took of it. */
const measured = async (work: () => Promise<unknown>) => {
  let isOver = false;
  let longest = 0;
  let last = cpuMs();
  const look = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  look();
  const begunAt = cpuMs();
  await work();
  isOver = true;
  return { spent: cpuMs() - begunAt, longest };
};

/** The longest that others wait for this thread. */
const mostMs = 50;

for (const tool of ["echo", "checked"])
  it(`10,000 calls of \`${tool}\` in one request hold up nobody, and cost no more each than a hundred do`, async () => {
    const session = await sessionIn(`${tool}.db`);
    const perCall = { small: Infinity, large: Infinity };
    const turns: number[] = [];
    for (let round = 0; round < 2 || (round < 5 && Math.min(...turns) >= mostMs); round += 1) {
      const small = await measured(async () => {
        for (let n = 0; n < 10; n += 1) await session.request(`small${round}-${n}`, callsOf(tool, 100));
      });
      const large = await measured(async () => {
        expect(await session.request(`large${round}`, callsOf(tool, 10_000))).toHaveLength(10_000);
      });
      perCall.small = Math.min(perCall.small, small.spent / 1000);
      perCall.large = Math.min(perCall.large, large.spent / 10_000);
      turns.push(large.longest);
    }
    expect(Math.min(...turns)).toBeLessThan(mostMs);
    expect(perCall.large / perCall.small).toBeLessThan(2);
  }, 120_000);

/** Proofs over releases of which one lacks a tool: its calls wait, also those that were not started yet, and go on with the next. */
import { type Session, type ToolDefinition, defineTool } from "@pawl/runtime";
import { stableHash } from "@pawl/tool-value";
import { Releases, differing, quiet } from "./releases.ts";

const preparing = Promise.withResolvers<never>().promise;

/** A tool that prepares its calls, which takes for ever in the first release. */
const careful = (isSlow: boolean): ToolDefinition =>
  defineTool({
    name: "work",
    durable: true,
    prepare: () => (isSlow ? preparing : "ready"),
    execute: (_, ctx) => ctx.run("do", () => ctx.payload),
  });

const phaseOf = ({ state }: Session): string => state.calls.rows()[0]?.phase ?? "none";

/** It was away while it was to prepare its call. */
const unprepared = async (): Promise<string | undefined> => {
  const world = new Releases();
  const phases: string[] = [];
  const look = async (session: Session): Promise<void> => void phases.push(phaseOf(session));
  await world.runTools("1", [careful(true)], look);
  await world.runTools("2", [], look);
  await world.runTools("3", [careful(false)]);
  return differing([phases, world.ends], [["preparing", "no_tool"], ["ready"]]);
};

const guarded = defineTool({
  name: "work",
  durable: true,
  needsApproval: true,
  execute: (_, ctx) => ctx.run("do", () => "done"),
});

/** It was away when a person had approved its call. */
const unlaunched = async (): Promise<string | undefined> => {
  const world = new Releases();
  const phases: string[] = [];
  await world.runTools("1", [guarded]);
  await world.runTools("2", [], async (session) => {
    const seen = { hash: stableHash({}), by: "p" };
    await session.approve("r:c", seen);
    await quiet();
    phases.push(phaseOf(session));
  });
  await world.runTools("3", [guarded]);
  return differing([phases, world.ends], [["no_tool"], ["done"]]);
};

export const absent = { unprepared, unlaunched };

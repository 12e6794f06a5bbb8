/** Tells a scope which tools there are. */
import type { State, Tool } from "@pawl/sansio-core";
import { toolsUnder } from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import { type Access, record } from "../scope/access.ts";
import type { CodeVersions } from "../tool/version.ts";

const hashOf = (tools: readonly Tool[]): string =>
  stableHash(tools.toSorted((a, b) => (a.id < b.id ? -1 : 1)) as unknown as Json);

/** Says whether the scope has other tools than these. Before its first catalog it always has. */
const isNews = ({ catalog: { byId } }: State, tools: readonly Tool[]): boolean =>
  byId.size !== tools.length || (tools.length > 0 && hashOf([...byId.values()]) !== hashOf(tools));

/** Returns the tools that calls wait for. One that an executor runs is back when an executor says so, for calls that run. */
const awaitedTools = ({ calls }: State, tools: readonly Tool[]): readonly string[] => {
  const rows = calls.rows();
  const toRun = new Set(rows.flatMap((row) => (row.phase === "no_executor" ? row.body.manifest.id : [])));
  const toLaunch = new Set(
    rows.flatMap((row) => (row.phase === "no_tool" && row.due !== undefined ? row.manifest.id : [])),
  );
  const isBack = ({ id, policy }: Tool): boolean => toLaunch.has(id) || (policy !== "client_side" && toRun.has(id));
  return tools.filter(isBack).map(({ id }) => id);
};

/** Publishes the tools where they are new to the scope, and lets calls go on whose tool is back. */
export const publish = async (access: Access, tools: readonly Tool[], versions: CodeVersions): Promise<void> => {
  const { runner } = access;
  const known = toolsUnder(runner.state.scope.protocol, tools);
  if (isNews(runner.state, known) || versions.areNewTo(runner.state))
    await record(access, { type: "catalog.published", tools: known, ...versions.toldTo(runner.state) });
  const back = awaitedTools(runner.state, known);
  if (back.length > 0) {
    const told = versions.ofTools(runner.state, back);
    await record(access, { type: "executors.available", tools: back, ...told });
  }
  await runner.whenDurable();
};

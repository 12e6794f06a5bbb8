/** What the bodies of a scope can do with processes: the scope's own reach, as their contexts get it. */
import type { Event, Rejection, State, Written } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { SessionWork } from "./run/session-work.ts";
import type { ProcessApi } from "../body/facet/process-api.ts";
import type { LiveTool } from "../tool/live-tool.ts";
import type { ProcessHost } from "./work.ts";
import { problemOfEvent } from "../scope/round-trip.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { ScopeWork } from "./scope-work.ts";

export interface ProcessApiPort {
  readonly runner: ScopeRunner;
  readonly tool: (id: string) => LiveTool | undefined;
  readonly work: SessionWork;
  readonly scopeWork: () => ScopeWork;
  readonly host: ProcessHost;
}

/** What a scope's calls run in where the host does not say. */
export const plainEnvironment: Json = { plugin_options: {}, policy: {} };

const callable = new Set(["callable", "showcased"]);

const toolNamed = ({ catalog }: State, tool: ProcessApiPort["tool"], name: string): LiveTool | undefined => {
  const manifest = catalog.byName.get(name);
  if (manifest === undefined) return undefined;
  const availability = catalog.overrides.get(name) ?? manifest.availability;
  return callable.has(availability) ? tool(manifest.id) : undefined;
};

export const processApiOf = ({ runner, tool, work, scopeWork, host }: ProcessApiPort): ProcessApi => {
  const isRun = (): boolean => runner.state.background.run !== undefined;
  return {
    state: () => runner.state,
    apply: (event: Event) => {
      const problem = problemOfEvent(event);
      if (problem !== undefined) return { status: "err", error: { code: "durable_effect_value", message: problem } };
      const told: E.Either<Rejection, Written> = runner.apply(event);
      if (E.isRight(told)) return { status: "ok", value: null };
      const { code, message } = told.left;
      return { status: "err", error: { code, message } };
    },
    work,
    begins: (command) => (isRun() ? scopeWork().runs.begins(command) : undefined),
    execute: async (of, command, context, isOver) =>
      isRun() ? scopeWork().runs.execute(of, command, context, isOver) : of.execute(command.args, context),
    environmentSpec: host.environmentSpec ?? (() => plainEnvironment),
    toolNamed: (name) => toolNamed(runner.state, tool, name),
    eventAfter: (...of) => scopeWork().eventAfter(...of),
    childStarted: (...child) => host.childStarted?.(...child),
  };
};

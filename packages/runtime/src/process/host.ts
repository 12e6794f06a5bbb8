/** The callbacks and settings that a host fills in for processes, background runs, schedules and messages to sessions. */
import type { CommandOf, Tool } from "@pawl/sansio-core";
import type { SessionScope, Plan, ProbeOutcome } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { ToolHost } from "../host/host.ts";
import type { ToolHints } from "../tool/manifest.ts";
import type { Engines } from "./engine.ts";

/** Tells the model of a session that a process has news for it. */
export interface Wake {
  /** Unique for a target and a dedupe key: a host that has seen it ignores it. */
  readonly wake_id: string;
  /** The key that acknowledges it. */
  readonly key: string;
  readonly target: SessionScope;
  readonly process_id: string;
  readonly sequence: number;
  readonly event_type: string;
  readonly input: string;
  /** The text for the model. */
  readonly text: string;
}

/** Serves the processes of a scope. */
export interface ProcessHost {
  /** Takes a wake; the promise resolves once the host has it. Delivered at least once: a crash may repeat it. */
  readonly wake?: (wake: Wake) => Promise<void>;
  readonly observeProcess?: (scope: string, command: CommandOf<"process.observe">) => void;
  /** Captures the environment of calls (`plugin_options`, `policy`) for processes that they start. */
  readonly environmentSpec?: () => Json;
  /** Loads the tools of a captured environment; undefined if it is unknown. Without it: all tools of the runtime. */
  readonly environment?: (envRef: string) => Promise<readonly Tool[] | undefined>;
  /** Reports that a body has started a process on behalf of a call. */
  readonly childStarted?: (call: string, processId: string, entryName: string | undefined) => void;
}

/** Describes the environment of calls where the host has none. */
export const plainEnvironment: Json = { plugin_options: {}, policy: {} };

/** The two files of a run, as they are to stand among the files of its session. */
export interface RunFiles {
  readonly session: string;
  readonly run: string;
  readonly artifact_dir: string;
  readonly log: { readonly path: string; readonly text: string };
  readonly result: { readonly path: string; readonly text: string };
}

/** Asks a monitor's tool whether there is anything to report. */
export interface Probe {
  readonly session: string;
  readonly schedule: string;
  /** Numbers the fires of a schedule. After a crash the same fire may be probed again. */
  readonly fire: number;
  readonly tool: string;
  readonly arguments: Json;
}

/** A message to a session. One from a schedule starts a turn, as if the user had spoken. */
export interface SessionMessage {
  readonly session: string;
  /** Unique for each message: a host that has seen it ignores it. */
  readonly key: string;
  readonly text: string;
  readonly schedule?: string;
}

/** The facts about a tool that decide whether its run may be started again. */
export interface RunTool {
  readonly hints: Pick<ToolHints, "idempotent" | "readonly">;
  readonly hasExecutor: boolean;
  /** For whatever reason its body may run again; without it the hints decide. */
  readonly isRerunnable?: boolean;
}

export interface BackgroundHost {
  /** Writes the files of a run. If it throws, the run ends as one whose artifacts could not be written. */
  readonly artifacts?: (files: RunFiles) => Promise<void>;
  /** Finds the next fire of a cron expression in a zone, strictly after an instant. Without it there are no recurring schedules. */
  readonly plan?: (expression: string, timezone: string, after: number) => Plan | Promise<Plan>;
  /** Probes a monitor. Without it every fire of a monitor is told to its session. */
  readonly probe?: (probe: Probe) => Promise<ProbeOutcome>;
  /** Takes a message; the promise resolves once the host has it. If it throws, it is asked again. Without it messages are dropped. */
  readonly tell?: (message: SessionMessage) => Promise<void>;
  /** Finds the tool with which a lost run goes on; without it, that of the runtime's own registry. */
  readonly runTool?: (session: string, tool: string) => RunTool | undefined;
}

export interface ScopeLinksHost extends ProcessHost, BackgroundHost, Pick<ToolHost, "internalError"> {
  /** Run processes that are not calls of tools, by their kind; turns of sessions under `session_turn`. */
  readonly engines?: Engines;
}

/** Limits the background runs of a worker. */
export interface BackgroundOptions {
  /** The most runs at once. */
  readonly workerRuns: number;
  /** The shortest time between two reports of a run, and the output that forces an earlier one. */
  readonly reportMs: number;
  readonly reportCharacters: number;
}
/** Sets the limits of a worker, unless the host says otherwise. */
export const defaultBackground: BackgroundOptions = { workerRuns: 64, reportMs: 1000, reportCharacters: 4096 };

/** What a host fills in for background runs, schedules, and what sessions are told. */
import type { Plan, ProbeOutcome } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { ToolHints } from "../../tool/manifest.ts";

/** The two files of a run, as they are to stand in the files of its session. */
export interface RunFiles {
  readonly session: string;
  readonly run: string;
  readonly artifact_dir: string;
  readonly log: { readonly path: string; readonly text: string };
  readonly result: { readonly path: string; readonly text: string };
}

/** A monitor's tool is tried before anybody is bothered. */
export interface Probe {
  readonly session: string;
  readonly schedule: string;
  /** Which fire it is of; one that was tried is tried again after a crash. */
  readonly fire: number;
  readonly tool: string;
  readonly arguments: Json;
}

/** What a session is told; by a schedule as if its user spoke, which starts a turn. */
export interface SessionMessage {
  readonly session: string;
  /** One for each message: a host that got it already has nothing to do. */
  readonly key: string;
  readonly text: string;
  readonly schedule?: string;
}

/** A tool, as far as a run that lost its owner has to know it. */
export interface RunTool {
  readonly hints: Pick<ToolHints, "idempotent" | "readonly">;
  readonly hasExecutor: boolean;
}

export interface BackgroundHost {
  /** Writes a run's files. What it throws ends the run as one whose artifacts could not be written. */
  readonly artifacts?: (files: RunFiles) => Promise<void>;
  /** When a cron expression fires next in a zone, strictly after an instant. Without it there are no recurring schedules. */
  readonly plan?: (expression: string, timezone: string, after: number) => Plan | Promise<Plan>;
  /** Without it every fire of a monitor is told to its session. */
  readonly probe?: (probe: Probe) => Promise<ProbeOutcome>;
  /** Has it when the promise resolves; what it throws is told again. Without it nobody is there to hear. */
  readonly tell?: (message: SessionMessage) => Promise<void>;
  /** The tool that a lost run goes on with; without it that of the runtime's own registry. */
  readonly runTool?: (session: string, tool: string) => RunTool | undefined;
}

/** How a worker runs its background runs. */
export interface BackgroundOptions {
  /** How many run at once on it. */
  readonly workerRuns: number;
  /** How often a run is recorded at the most, and how much output it may have until then. */
  readonly reportMs: number;
  readonly reportCharacters: number;
}
/** Sets how many background runs a worker takes, and how often they report, unless the host says otherwise. */
export const defaultBackground: BackgroundOptions = { workerRuns: 64, reportMs: 1000, reportCharacters: 4096 };

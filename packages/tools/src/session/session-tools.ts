/** The full set of a session's tools: the default ones, the host's own, and those of its capabilities. */
import type { BackgroundHost, ToolDefinition } from "@pawl/runtime";
import { defaultTools } from "../registry.ts";
import type { BuiltinTool } from "../tool.ts";
import type { WebPort } from "../web.ts";
import { type FilesOf, builtinTool } from "./builtin.ts";
import { type Capability, activate } from "./capability.ts";
import { sessionHost } from "./host.ts";
import { scheduleTools } from "./schedule.ts";
import { spawnBackground } from "./spawn.ts";
import { taskTools } from "./task.ts";

export interface SessionToolOptions {
  /** Without files the file tools fail with a message, and nothing runs in the background. */
  readonly files?: FilesOf;
  readonly web?: WebPort;
  /** Lets `web_fetch` save responses to files. */
  readonly fileDownload?: boolean;
  /** The host's own tools. If one of them can run in the background, `spawn_background` is added. */
  readonly tools?: readonly ToolDefinition[];
  /** The ids of capabilities that are always active; tasks and schedules by default. */
  readonly capabilities?: readonly string[];
  readonly probes?: readonly BuiltinTool[];
  /** Returns true for kinds of tasks that accept messages; by default all but runs and monitors. */
  readonly acceptsMessages?: (kind: string) => boolean;
  readonly now?: () => number;
}

export interface SessionTools {
  readonly tools: readonly ToolDefinition[];
  readonly applied: readonly string[];
  /** The part of the runtime's host that these tools need. */
  readonly host: BackgroundHost;
}

const withoutInbox = new Set(["background_tool", "monitor"]);

/** Lists the capabilities of a session, with the tools that each brings. */
export const capabilitiesOf = ({
  files,
  acceptsMessages = (kind) => !withoutInbox.has(kind),
}: SessionToolOptions): readonly Capability[] => [
  {
    id: "background_execution",
    name: "Background Execution",
    icon: "zap",
    category: "Execution",
    tools: [spawnBackground(files !== undefined)],
    activatedBy: ({ background, manifest }) =>
      background !== undefined || manifest?.hints?.supports_background === true,
  },
  { id: "session_tasks", name: "Tasks", icon: "list", category: "Execution", tools: taskTools(acceptsMessages) },
  { id: "session_schedule", name: "Schedules", icon: "clock", category: "Execution", tools: scheduleTools },
];

/** Makes all tools of a session, and the part of its host that they need. */
export const sessionTools = (options: SessionToolOptions = {}): SessionTools => {
  const {
    files,
    web,
    fileDownload = false,
    tools = [],
    capabilities = ["session_tasks", "session_schedule"],
    probes,
    now = Date.now,
  } = options;
  const builtin = defaultTools(web, { fileDownload }).map((tool) => builtinTool(tool, files, now));
  const host = sessionHost({
    now,
    ...(files === undefined ? {} : { files }),
    ...(probes === undefined ? {} : { probes }),
  });
  return { ...activate([...builtin, ...tools], capabilitiesOf(options), capabilities), host };
};

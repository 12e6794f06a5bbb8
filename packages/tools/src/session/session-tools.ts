/** All that a session is given: the default tools, the host's own, and those that its capabilities bring. */
import type { BackgroundHost, ToolDefinition } from "@pawl/runtime";
import { defaultTools } from "../default.ts";
import type { BuiltinTool } from "../tool.ts";
import type { WebPort } from "../web.ts";
import { type FilesOf, builtinTool } from "./builtin.ts";
import { type Capability, activate } from "./capability.ts";
import { sessionHost } from "./host.ts";
import { scheduleTools } from "./schedule.ts";
import { spawnBackground } from "./spawn.ts";
import { taskTools } from "./task.ts";

export interface SessionToolOptions {
  /** Without them the file tools say so, and nothing runs in the background. */
  readonly files?: FilesOf;
  readonly web?: WebPort;
  /** Whether `web_fetch` may save what it fetches. */
  readonly fileDownload?: boolean;
  /** The host's own tools; with one that can run in the background comes `spawn_background`. */
  readonly tools?: readonly ToolDefinition[];
  /** Which capabilities a session has without being in need of them: by default its tasks and schedules. */
  readonly capabilities?: readonly string[];
  readonly probes?: readonly BuiltinTool[];
  /** Kinds of tasks that hear messages: all but runs and monitors. */
  readonly acceptsMessages?: (kind: string) => boolean;
  readonly now?: () => number;
}

export interface SessionTools {
  readonly tools: readonly ToolDefinition[];
  readonly applied: readonly string[];
  /** For the runtime's host, beside what tells sessions. */
  readonly host: BackgroundHost;
}

const deaf = new Set(["background_tool", "monitor"]);

export const capabilitiesOf = ({
  files,
  acceptsMessages = (kind) => !deaf.has(kind),
}: SessionToolOptions): readonly Capability[] => [
  {
    id: "background_execution",
    name: "Background Execution",
    icon: "zap",
    category: "Execution",
    tools: [spawnBackground(files !== undefined)],
    activatedBy: ({ hints }) => hints?.supports_background === true,
  },
  { id: "session_tasks", name: "Tasks", icon: "list", category: "Execution", tools: taskTools(acceptsMessages) },
  { id: "session_schedule", name: "Schedules", icon: "clock", category: "Execution", tools: scheduleTools },
];

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

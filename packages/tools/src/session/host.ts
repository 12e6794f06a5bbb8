/** The host side of the session tools: artifact files of runs, the calendar of schedules, and the probes of monitors. */
import type { ProbeOutcome } from "@pawl/sansio-core/driver";
import type { BackgroundHost } from "@pawl/runtime";
import type { Probe, RunFiles } from "@pawl/runtime/driver";
import { withoutRawOutput } from "@pawl/runtime/driver";
import { planOf } from "../cron.ts";
import { utf8 } from "../file/bytes.ts";
import { parentOf } from "../file/path.ts";
import { probeResultText } from "../spawn/text.ts";
import { type BuiltinTool, argumentsOf } from "../tool.ts";
import type { FilesOf } from "./builtin.ts";

const writeArtifacts = async (filesOf: FilesOf, { session, artifact_dir, log, result }: RunFiles): Promise<void> => {
  const files = filesOf(session);
  for (const folder of [parentOf(artifact_dir), artifact_dir]) await files.createDirectory(folder);
  for (const { path, text } of [log, result]) await files.write(path, utf8(text), { encoding: "text" });
};

/** Runs a probe with nothing but the name of its session. An exception is logged, and the probe is skipped. */
const probeWith =
  (tools: readonly BuiltinTool[], now: () => number) =>
  async ({ session, tool: name, arguments: args }: Probe): Promise<ProbeOutcome> => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) return { type: "skipped" };
    const result = await tool.execute(argumentsOf(args), { session_id: session, now });
    switch (result.type) {
      case "success":
        return { type: "succeeded", text: probeResultText(withoutRawOutput(result.value).value) };
      case "success_with_images":
        return { type: "succeeded", text: probeResultText(result.result) };
      case "tool_error":
        return { type: "failed", message: result.message };
      case "internal_error":
        throw result.source ?? new Error(result.message);
      case "connection_required":
        return { type: "skipped" };
    }
  };

export interface SessionHostOptions {
  readonly files?: FilesOf;
  /** Tools that a monitor runs when it fires, before the session is told. */
  readonly probes?: readonly BuiltinTool[];
  readonly now: () => number;
}

/** Makes the part of a host that background runs and schedules need. */
export const sessionHost = ({ files, probes = [], now }: SessionHostOptions): BackgroundHost => ({
  plan: planOf,
  ...(files === undefined ? {} : { artifacts: (run: RunFiles) => writeArtifacts(files, run) }),
  ...(probes.length === 0 ? {} : { probe: probeWith(probes, now) }),
});

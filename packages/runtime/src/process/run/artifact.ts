/** The two files of a run: its texts from all that its attempt has recorded, handed to the host. */
import type { Command } from "@pawl/sansio-core";
import { type Output, artifactsOf, pathsOf } from "@pawl/sansio-core/driver";
import { sessionOf } from "../../host/call-place.ts";
import { recordedIn } from "../../scope/fold.ts";
import type { ScopeAccess } from "../work.ts";
import type { BackgroundHost } from "./host.ts";

type Write = Extract<Command, { readonly type: "artifacts.write" }>;

/** What an attempt has written, by the log of its process. `continueAs` begins a body anew: `since` that, what it wrote. */
export const outputsOf = async (
  { runner, readLines }: ScopeAccess,
  attempt: number,
): Promise<{ readonly all: readonly Output[]; readonly since: number }> => {
  const all: Output[] = [];
  let before = 0;
  for (const line of await readLines(1)) {
    const { event } = recordedIn(runner.id, line);
    if (event.type === "run.reported" && event.attempt === attempt) all.push(...event.output);
    if (event.type === "call.continued") before = all.length;
  }
  return { all, since: all.length - before };
};

const write = async (scope: ScopeAccess, host: BackgroundHost, { run, attempt, outcome }: Write): Promise<void> => {
  const { state } = scope.runner;
  const { artifact_dir, log_path, result_path } = pathsOf(run);
  if (host.artifacts === undefined) {
    const lost = `cannot persist artifact ${log_path} because no session file store is configured`;
    throw new Error(`background run ${run} ${lost}`);
  }
  const { all } = await outputsOf(scope, attempt);
  const { log, result } = artifactsOf(outcome, all, state.scope.options.max_output);
  await host.artifacts({
    session: sessionOf(state),
    run,
    artifact_dir,
    log: { path: log_path, text: log },
    result: { path: result_path, text: result },
  });
};

/** Whether they are written. Once they are not, they are not tried again: the run ends, and says so. */
export const writeArtifacts = async (scope: ScopeAccess, host: BackgroundHost, command: Write): Promise<boolean> => {
  try {
    await write(scope, host, command);
    return true;
  } catch (thrown) {
    scope.report(command.attempt === 1 ? finalization : reattachFinalization, thrown);
    return false;
  }
};

const finalization = "Background run finalization failed";
const reattachFinalization = "Background run re-attach finalization failed";

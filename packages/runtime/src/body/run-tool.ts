/** One run of a tool, up to the outcome that is recorded of it. */
import type { Event } from "@pawl/sansio-core";
import {
  type PendingCompletion,
  type ToolResult,
  failureOutput,
  pendingWithoutKey,
  runtimeFailure,
} from "@pawl/tool-value";
import type { AttachmentStore } from "../journal/attachment.ts";
import type { BodyRun } from "./body.ts";
import { type Place, type ToolHost, completionKeyId, report } from "../host/tool-host.ts";
import { cancelledBy } from "./stop.ts";
import type { CallFacts } from "./facet/facts.ts";
import { EffectError } from "../error.ts";
import { unanswered } from "../host/connection.ts";
import { type Ending, endingOf, hidden, resultOfThrown } from "../host/outcome.ts";

export interface RunPort {
  readonly host: ToolHost;
  readonly attachments: AttachmentStore;
}

/** Stores the raw output before the outcome. Without a host that makes connections, one that is required is the result. */
const completed = async ({ host }: RunPort, place: Place, ending: Ending): Promise<Ending> => {
  if (ending.type === "connection") {
    const isAnswered = host.connectionRequired !== undefined;
    return isAnswered ? ending : { type: "result", result: unanswered(ending.provider) };
  }
  if (ending.rawOutput !== undefined) await host.rawOutput?.({ ...place, text: ending.rawOutput });
  return ending;
};

type BodyResult = Extract<Event, { readonly type: "call.settled" }>["result"];

/**
 * Returns the result as it is recorded. Nobody could complete a pending call whose body never asked for its key, so that
 * is a failure. Only a first run can tell: a later one may have handed the key out in a step that the log answers.
 */
export const bodyResult = (body: BodyRun, facts: CallFacts, result: ToolResult): BodyResult => {
  if (result.type === "done") return result;
  const { attempt, run } = body.id;
  const isKeyless = attempt === 1 && run === 1 && !body.hasCompletionKey;
  return isKeyless ? { type: "done", output: failureOutput(pendingWithoutKey) } : pendingOn(facts, result.pending);
};

/** Parks the call on its completion key. Where no key can be made, nobody could complete it: that is a failure. */
const pendingOn = (facts: CallFacts, pending: PendingCompletion): BodyResult => {
  try {
    return { type: "pending", key: completionKeyId(facts), pending };
  } catch (thrown) {
    if (!(thrown instanceof EffectError)) throw thrown;
    const message = `${thrown.code}: ${thrown.message}`;
    const failure = runtimeFailure("internal", "pending_tool_completion_key_failed", message);
    return { type: "done", output: failureOutput(failure) };
  }
};

/** Runs the tool. The outcome of a run that is over meanwhile is neither stored nor reported. */
export const runTool = async (
  port: RunPort,
  place: Place,
  execute: () => Promise<unknown>,
  body: Pick<BodyRun, "isOver" | "isCancelled">,
): Promise<Ending> => {
  try {
    const ending = await endingOf(await execute(), port.attachments);
    return body.isOver ? ending : await completed(port, place, ending);
  } catch (thrown) {
    const told = resultOfThrown(thrown) ?? (body.isCancelled ? cancelledBy(thrown) : undefined);
    if (told === undefined && !body.isOver) report(port.host, place, thrown);
    return { type: "result", result: told ?? hidden };
  }
};

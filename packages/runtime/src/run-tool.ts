/** One run of a tool, up to the outcome that is recorded of it. */
import type { AttachmentStore } from "./attachment.ts";
import { type Place, report } from "./call-place.ts";
import { unanswered } from "./connection.ts";
import { type Ending, endingOf, hidden, resultOfThrown } from "./outcome.ts";
import type { ToolHost } from "./tool-host.ts";

export interface RunPort {
  readonly host: ToolHost;
  readonly attachments: AttachmentStore;
}

/** What belongs to an outcome is stored first; a host that makes no connections is told of none. */
const completed = async ({ host }: RunPort, place: Place, ending: Ending): Promise<Ending> => {
  if (ending.type === "connection") {
    const isAnswered = host.connectionRequired !== undefined;
    return isAnswered ? ending : { type: "result", result: unanswered(ending.provider) };
  }
  if (ending.rawOutput !== undefined) await host.rawOutput?.({ ...place, text: ending.rawOutput });
  return ending;
};

/** What a run does that is over is nobody's, and nobody hears of it. */
export const runTool = async (
  port: RunPort,
  place: Place,
  execute: () => Promise<unknown>,
  isOver: () => boolean,
): Promise<Ending> => {
  try {
    const ending = await endingOf(await execute(), port.attachments);
    return isOver() ? ending : await completed(port, place, ending);
  } catch (thrown) {
    const told = resultOfThrown(thrown);
    if (told === undefined && !isOver()) report(port.host, place, thrown);
    return { type: "result", result: told ?? hidden };
  }
};

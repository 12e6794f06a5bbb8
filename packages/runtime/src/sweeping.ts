/** Whether a runtime sweeps: most pages leave it to whoever tells them to. */
import { late } from "./late-part.ts";
import type { SweeperPort } from "./sweep.ts";

export const sweepWhereAsked = (port: SweeperPort): void => {
  if (port.sweep === undefined) return;
  late
    .use(async (host) => host.sweepFromTimeToTime(port))
    .catch((thrown: unknown) => port.fault("blobs are not swept", thrown));
};

/** The ops of this package for the case runner. */
import { finalizeAdapters } from "./cases/finalize.ts";
import { reattachAdapters } from "./cases/reattach.ts";
import { runAdapters } from "./cases/run.ts";
import { scheduleAdapters } from "./cases/schedule.ts";
import { spawnAdapters } from "./cases/spawn.ts";
import { taskAdapters } from "./cases/task.ts";
import { toolAdapters } from "./cases/tool.ts";

export const adapters = {
  ...toolAdapters,
  ...taskAdapters,
  ...runAdapters,
  ...finalizeAdapters,
  ...reattachAdapters,
  ...spawnAdapters,
  ...scheduleAdapters,
};

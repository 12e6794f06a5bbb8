import { setTimeout as pause } from "node:timers/promises";

/** Waits until something holds, however slow the machine is: the test's own time is the limit. */
export const until = async (holds: () => boolean | Promise<boolean>, lookEveryMs = 2): Promise<void> => {
  while (!(await holds())) await pause(lookEveryMs);
};

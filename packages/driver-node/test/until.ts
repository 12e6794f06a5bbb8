import { setTimeout as pause } from "node:timers/promises";

/** Waits until a condition holds, limited only by the test's timeout. */
export const until = async (holds: () => boolean | Promise<boolean>, lookEveryMs = 2): Promise<void> => {
  while (!(await holds())) await pause(lookEveryMs);
};

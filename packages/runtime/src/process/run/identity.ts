/** What runs, tasks and schedules are called: derived of time and place, so that who asks again asks for the same one. */
import { stableHash } from "@pawl/tool-value";
import type { State } from "@pawl/sansio-core";

const digits = 32;

/** A UUID of version 7 without its dashes: the time stands in front. */
const timed = (at: number, hash: string): string => {
  const time = at.toString(16).padStart(12, "0").slice(-12);
  const variant = ((Number.parseInt(hash.slice(15, 16), 16) & 0x3) | 0x8).toString(16);
  return `${time}7${hash.slice(0, 3)}${variant}${hash.slice(3, 18)}`;
};

export const runIdOf = (at: number, hash: string): string => `bg_${timed(at, hash)}`;
export const taskIdOf = (hash: string): string => `task_${hash.slice(0, digits)}`;
export const scheduleIdOf = (hash: string): string => `sched_${hash.slice(0, digits)}`;
export const messageIdOf = (hash: string): string => `tmsg_${hash.slice(0, digits)}`;

/** A name by the place in the log of a scope where it is given. */
export const hashAt = ({ scope, seq, at }: State, name: string): string => stableHash([scope.id, seq + 1, at, name]);

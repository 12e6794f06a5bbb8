/**
 * The clocks, timers and turns of a browser, in a tab or a worker. A machine that sleeps may stop the clock of timers, but not the
 * wall clock. The time by which the wall clock is ahead therefore counts as elapsed, and no timer is set for longer than a
 * second, so that after a sleep a timer is late by no more than that.
 */
import { type Platform, messageTurn } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";

const longestTimerMs = 1000;

const started = { wall: Date.now(), running: performance.now() };
/** The time that the running clock has missed. It never shrinks: the monotonic clock must not go back. */
let sleptMs = 0;

const monotonic = (): number => {
  const running = performance.now();
  sleptMs = Math.max(sleptMs, Date.now() - started.wall - (running - started.running));
  return running + sleptMs;
};

const later = (ms: number, then: () => void): (() => void) => {
  const due = monotonic() + ms;
  let timer: ReturnType<typeof setTimeout>;
  const wait = (left: number): void => {
    timer = setTimeout(ring, Math.min(left, longestTimerMs));
  };
  const ring = (): void => {
    const left = due - monotonic();
    if (left > 0) wait(left);
    else then();
  };
  wait(ms);
  return () => clearTimeout(timer);
};

/** Gives a runtime the clocks, timers and hashes of a browser; a turn is a message to oneself. */
export const browserPlatform: Platform = { now: () => Date.now(), monotonic, nextTurn: messageTurn, hashText, later };

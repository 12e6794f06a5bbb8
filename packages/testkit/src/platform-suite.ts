/**
 * Conformance checks for platforms, for any test runner: the turns, timers and hash that a runtime is given. A turn comes after
 * all that is ready, and lets timers and IO through; a runtime over one that does not would answer nobody while it works.
 */
import type { Platform } from "@pawl/runtime/driver";
import { same } from "./journal/rig.ts";

export interface PlatformCheck {
  readonly name: string;
  /** Throws if the platform fails the check. */
  readonly run: (platform: Platform) => Promise<void>;
}

const turn = (platform: Platform): Promise<void> => new Promise((then) => platform.nextTurn(then));
const wait = (platform: Platform, ms: number): Promise<void> => new Promise((then) => void platform.later(ms, then));

const manyReactions = 50;
/** Turns within which a timer of a few milliseconds has to ring. */
const manyTurns = 300_000;

/** Lists the checks that every platform has to pass. */
export const platformChecks: readonly PlatformCheck[] = [
  {
    name: "comes to the next turn after all reactions to promises",
    run: async (platform) => {
      let [reactions, seen] = [0, 0];
      const later = turn(platform).then(() => void (seen = reactions));
      const reacting = (async () => {
        for (; reactions < manyReactions; reactions++) await undefined;
      })();
      await Promise.all([later, reacting]);
      same(seen, manyReactions, "reactions before the turn");
    },
  },
  {
    name: "lets timers ring between turns",
    run: async (platform) => {
      const rings: number[] = [];
      let turns = 0;
      platform.later(5, () => void rings.push(turns));
      for (; turns < manyTurns && rings.length === 0; turns++) await turn(platform);
      same(rings.length, 1, `rings of a timer of 5 ms after ${turns} turns`);
    },
  },
  {
    name: "takes turns in the order in which they were asked for",
    run: async (platform) => {
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => turn(platform).then(() => order.push(n))));
      same(order, [1, 2, 3], "the order");
    },
  },
  {
    name: "rings no timer that was called off",
    run: async (platform) => {
      let rings = 0;
      const callOff = platform.later(1, () => void (rings += 1));
      callOff();
      callOff();
      await wait(platform, 30);
      same(rings, 0, "rings");
    },
  },
  {
    name: "waits no less than it was told, by a clock that does not go back",
    run: async (platform) => {
      const begun = platform.monotonic();
      await wait(platform, 20);
      same(platform.monotonic() - begun >= 19, true, "a wait of 20 ms took as long");
    },
  },
  {
    name: "hashes the UTF-8 of a text",
    run: async ({ hashText }) => {
      const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
      same(hashText("abc"), hash, "the hash of abc");
      same(hashText("ї\u{1f512}").length, 64, "digits of a hash of other letters");
    },
  },
];

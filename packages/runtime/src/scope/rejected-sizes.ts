/**
 * Lines that a journal had no room for, by scope. Whoever runs the call again that said one would say it again, and lose
 * the scope again: so for a while such a line is not tried. What is forgotten here is found out once more.
 */
import type { Platform } from "../platform.ts";

/** A line that is shorter than this is no reason for a journal to be full. */
const leastLine = 4096;
const rememberedMs = 60_000;

interface Refused {
  readonly characters: number;
  readonly until: number;
}

export class RejectedSizes {
  readonly #platform: Pick<Platform, "monotonic">;
  readonly #refused = new Map<string, Refused>();

  constructor(platform: Pick<Platform, "monotonic">) {
    this.#platform = platform;
  }

  /** There was no room for a line of so many characters. */
  refused(scope: string, characters: number): void {
    if (characters < leastLine) return;
    const until = this.#platform.monotonic() + rememberedMs;
    this.#refused.set(scope, { characters: Math.min(characters, this.#most(scope)), until });
  }

  /** Whether there may be room for a line of so many characters. */
  has(scope: string, characters: number): boolean {
    return characters < leastLine || characters < this.#most(scope);
  }

  #most(scope: string): number {
    const refused = this.#refused.get(scope);
    if (refused === undefined) return Infinity;
    if (this.#platform.monotonic() < refused.until) return refused.characters;
    this.#refused.delete(scope);
    return Infinity;
  }
}

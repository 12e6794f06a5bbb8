/** Time, chance and names, all equal in every run. */
import { stableHash } from "@pawl/tool-value";
import type { Asking } from "./asking.ts";

export interface Names {
  /** Scope time of the last answer that was delivered: equal in every run. */
  readonly now: () => number;
  readonly random: () => number;
  readonly uuid: (name: string) => string;
}

/** It stands in what names are made of: they are equal in later attempts as well, whose steps the log answers. */
export const firstAttempt = 1;

/** A name-based UUID: version 8, as its bits are those of our own hash. */
export const uuidOf = (hex: string): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
};

export const names = (asking: Asking): Names => {
  const { body, facts } = asking;
  const named = (name: string): string => stableHash([facts.base, firstAttempt, asking.nextName(name)]);
  return {
    now: () => body.now,
    random: () => Number.parseInt(named("random").slice(0, 12), 16) / 2 ** 48,
    uuid: (name) => uuidOf(named(`uuid:${name}`)),
  };
};

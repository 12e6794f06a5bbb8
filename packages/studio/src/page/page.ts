/** The pages of Studio, and what each is given. */
import type { Me, Refused } from "./api.ts";

export interface Shown {
  readonly main: HTMLElement;
  readonly me: Me;
  /** Hears whether the host answers. */
  readonly reached: (isThere: boolean, thrown?: Refused) => void;
  /** Aborts when another page is shown. */
  readonly signal: AbortSignal;
  /** The rest of the address. */
  readonly rest: string;
}

export type Page = (shown: Shown) => void;

/** Reads a part of an address. One that is not encoded stands for itself. */
export const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export const sessionLink = (session: string): string => `#/session/${encodeURIComponent(session)}`;

export interface Status {
  readonly state: string;
  readonly waits_for?: string;
  readonly since?: number;
  readonly until?: number;
}

/** Says a status as sessions do: `waits for a person`. */
export const statusWords = ({ state, waits_for: waitsFor }: Status): string => {
  if (waitsFor === undefined) return state;
  const what =
    waitsFor === "person"
      ? "a person"
      : waitsFor === "outside"
        ? "the outside"
        : waitsFor === "executor"
          ? "an executor"
          : waitsFor;
  return state === "unknown" ? `outcome unknown: ${what} decides` : `waits for ${what}`;
};

/** The tone of a status: the colour of its words. */
export const toneOf = ({ state, waits_for: waitsFor }: Status): string => {
  if (state === "failed" || state.startsWith("unreadable")) return "failed";
  if (state === "unknown" || waitsFor === "person") return "asks";
  if (state === "done") return "fine";
  return state === "working" ? "running" : "calm";
};

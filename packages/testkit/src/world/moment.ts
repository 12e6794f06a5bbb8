/** Moments at which a process can die, or its store can fail: the world asks its director at each. */

export type Moment =
  | { readonly type: "claim"; readonly when: "before" | "after"; readonly scope: string }
  /** An append is not durable yet, or some of its scopes are and the rest not, or all are and nobody was told. */
  | { readonly type: "append"; readonly when: "before" | "within" | "after"; readonly scopes: string }
  /** A word of the host arrives. */
  | { readonly type: "word"; readonly word: string }
  /** Something is about to happen outside, or it has and is not recorded. */
  | { readonly type: "effect"; readonly when: "before" | "after"; readonly effect: string };

/** What befalls a process at a moment. */
export type Fate =
  | "live"
  | "die"
  /** The store takes nothing: its disk is full. */
  | "full"
  /** The store answers with an error, and has taken nothing. */
  | "refused"
  /** The store has taken it, and answers with an error. */
  | "lost_acknowledgement"
  /** The store hears of it twice. */
  | "twice"
  /** Somebody else claims the scope first. */
  | "fenced"
  /** The store takes its time. */
  | "slow"
  /** The process stands still until its lease has run out, and wakes when another one has gone on. */
  | "frozen"
  /** Half of what was written at once reaches the disk, and the process is gone. */
  | "torn"
  /** The host's word is delivered twice. */
  | "heard_twice"
  /** The host hears no answer, and asks again. */
  | "lost_answer";

/** Faults of the store, which befall an append before it is durable. */
export const storeFaults = ["full", "refused", "lost_acknowledgement", "twice", "fenced", "slow", "torn"] as const;

/** Faults of the line between the host and the process, which befall a word of the host's. */
export const lineFaults = ["heard_twice", "lost_answer"] as const;

/** Of processes with a lease, at their appends. */
export const frozenAt = (moment: Moment): boolean => moment.type === "append" && moment.when !== "within";

/** What can befall at a moment, beside death. `isLeased`: processes have a lease, which can run out. */
export const faultsAt = (moment: Moment, isLeased = false): readonly Fate[] => {
  if (isLeased && frozenAt(moment)) return [...faultsAt(moment), "frozen"];
  if (moment.type === "word") return lineFaults;
  return moment.type === "append" && moment.when === "before" ? storeFaults : [];
};

/** Decides what befalls a process at the n-th moment of a run, from 1 on. */
export type Director = (moment: Moment, n: number) => Fate;

export const undisturbed: Director = () => "live";

/** Moments of one run, numbered as it goes through them. */
export const describeMoment = (moment: Moment): string => {
  switch (moment.type) {
    case "claim":
      return `${moment.when} the claim of ${moment.scope}`;
    case "append":
      return `${moment.when} the append of ${moment.scopes}`;
    case "effect":
      return `${moment.when} the effect \`${moment.effect}\``;
    case "word":
      return `before the word \`${moment.word}\` of the host`;
  }
};

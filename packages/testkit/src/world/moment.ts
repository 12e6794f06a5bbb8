/** Moments at which a process can die or its store can fail. The world asks its director at each one. */

export type Moment =
  | { readonly type: "claim"; readonly when: "before" | "after"; readonly scope: string }
  /** An append: not durable yet, partly durable, or durable and not acknowledged. */
  | { readonly type: "append"; readonly when: "before" | "within" | "after"; readonly scopes: string }
  /** A request of the host arrives. */
  | { readonly type: "word"; readonly word: string }
  /** An effect is about to happen, or has happened and is not recorded. */
  | { readonly type: "effect"; readonly when: "before" | "after"; readonly effect: string };

/** A fault that hits a process at a moment. */
export type Fate =
  | "live"
  | "die"
  /** The store writes nothing: the disk is full. */
  | "full"
  /** The store writes nothing and answers with an error. */
  | "refused"
  /** The store writes everything and answers with an error. */
  | "lost_acknowledgement"
  /** The store receives the append twice. */
  | "twice"
  /** Another process claims the scope first. */
  | "fenced"
  /** The commit takes long. */
  | "slow"
  /** The process freezes until its lease has expired and wakes after another one has taken over. */
  | "frozen"
  /** Half of a group is written, and the process dies. */
  | "torn"
  /** The host's request arrives twice. */
  | "heard_twice"
  /** The host's answer is lost, and it asks again. */
  | "lost_answer";

/** Faults of the store, which hit an append before it is durable. */
export const storeFaults = ["full", "refused", "lost_acknowledgement", "twice", "fenced", "slow", "torn"] as const;

/** Faults of the connection between host and process. */
export const lineFaults = ["heard_twice", "lost_answer"] as const;

/** Tells whether a process with a lease can freeze here: at its appends. */
export const frozenAt = (moment: Moment): boolean => moment.type === "append" && moment.when !== "within";

/** Returns the possible faults at a moment, besides death. `isLeased`: processes have a lease. */
export const faultsAt = (moment: Moment, isLeased = false): readonly Fate[] => {
  if (isLeased && frozenAt(moment)) return [...faultsAt(moment), "frozen"];
  if (moment.type === "word") return lineFaults;
  return moment.type === "append" && moment.when === "before" ? storeFaults : [];
};

/** Decides the fault at the n-th moment of a run, counted from 1. */
export type Director = (moment: Moment, n: number) => Fate;

export const undisturbed: Director = () => "live";

/** Describes a moment. */
export const describeMoment = (moment: Moment): string => {
  switch (moment.type) {
    case "claim":
      return `${moment.when} the claim of ${moment.scope}`;
    case "append":
      return `${moment.when} the append of ${moment.scopes}`;
    case "effect":
      return `${moment.when} the effect \`${moment.effect}\``;
    case "word":
      return `before the host's request \`${moment.word}\``;
  }
};

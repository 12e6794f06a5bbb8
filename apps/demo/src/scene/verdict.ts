/** What a scene comes to. */
export interface Verdict {
  /** The tone that it is told in. */
  readonly kind: "" | "dead" | "alive" | "harmed";
  readonly words: string;
  readonly means: string;
}

/** What the mix finds wrong: thrown where it is found, and told with the seed. */
export type MixHarm =
  | "invariant"
  | "conservation"
  | "replay"
  | "snapshot"
  | "lost_state"
  | "store"
  | "stuck"
  | "rejection"
  | "thrown";

export class MixViolation extends Error {
  override readonly name = "MixViolation";
  readonly harm: MixHarm;

  constructor(harm: MixHarm, message: string) {
    super(message);
    this.harm = harm;
  }
}

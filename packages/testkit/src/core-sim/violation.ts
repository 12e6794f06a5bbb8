/** A violation found by the core simulation, thrown where it is found. */
export type CoreSimHarm =
  | "invariant"
  | "conservation"
  | "replay"
  | "snapshot"
  | "lost_state"
  | "store"
  | "stuck"
  | "rejection"
  | "thrown";

/** Reports an expectation that a simulated scope did not meet. */
export class CoreSimViolation extends Error {
  override readonly name = "CoreSimViolation";
  readonly harm: CoreSimHarm;

  constructor(harm: CoreSimHarm, message: string) {
    super(message);
    this.harm = harm;
  }
}

/** Turns anything that was thrown into a violation. */
export const asViolation = (error: unknown): CoreSimViolation =>
  error instanceof CoreSimViolation
    ? error
    : new CoreSimViolation(
        "thrown",
        error instanceof Error ? `${error.name}: ${error.message} ${error.stack ?? ""}` : `${error}`,
      );

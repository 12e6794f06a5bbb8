/** What tells that values are sealed, and what is said where they can not be had. */

/** Values that are sealed, and that nobody here can open. */
export class SealedError extends Error {
  override readonly name = "SealedError";
  readonly code: "key_gone" | "key_missing" | "seal_broken";
  constructor(code: SealedError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Lines in clear end in their digest, and are told apart by that alone. */
export const isSealedLine = (line: string): boolean => line.endsWith("]}\n") && line.includes(',"sealed":[');

/** Seals that nobody has opened would be taken for the values themselves. */
export const sealedHere = (scope: string): SealedError =>
  new SealedError(
    "key_missing",
    `the values of ${scope} are sealed, and nothing here opens them: name what sealed them, as \`codec\` of openRuntime or \`keys\` of pawl host`,
  );

/** Runs in the browser: what pages of tests share. */

/** Returns what is wrong with a check, if anything is, over a database and a clock of its own. */
export const wrongIn = async (
  run: (database: { readonly name: string; readonly now: () => number }, pass: (ms: number) => void) => Promise<void>,
  name: string,
): Promise<string | undefined> => {
  let at = 1_700_000_000_000;
  try {
    await run({ name, now: () => at }, (ms) => {
      at += ms;
    });
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
};

/** Text that does not compress: a quota counts what is on disk. */
export const noise = (size: number): string => {
  const pieces: string[] = [];
  for (let left = size; left > 0; left -= 60_000) {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.min(left, 60_000)));
    pieces.push(Array.from(bytes, (byte) => String.fromCharCode(48 + (byte % 64))).join(""));
  }
  return pieces.join("");
};

/** Returns what work was done, in any tab. */
export const done = (step: string): number => {
  const count = Number(localStorage.getItem(step) ?? 0) + 1;
  localStorage.setItem(step, String(count));
  return count;
};

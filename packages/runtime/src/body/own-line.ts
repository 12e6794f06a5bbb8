/**
 * Stacks of the errors of effects, with the lines of the tool alone. An error is made where a step ends or an answer is
 * delivered, which is in the interpreter; the body that awaits it stands on no stack then. V8 can name it, though: an error
 * that is made in a reaction knows the async functions that wait for the promise of that reaction.
 *
 *   answer ──▶ a reaction takes the frames ──▶ the error is given them ──▶ the promise of the effect is rejected
 */

/**
 * Begins the place of every file of the interpreter. In a page all may be one file, and a Worker's modules have no place: then
 * stacks are left as they are, since every line has the empty text.
 */
const home = /(?<home>[^\s()]*\/)body\/own-line\.[jt]s/.exec(new Error().stack ?? "")?.groups?.["home"] ?? "";

const isFrame = (line: string): boolean => /^\s+at /.test(line);
const isOwn = (line: string): boolean => isFrame(line) && !line.includes(home) && !line.includes("node:");

/** Leaves the interpreter's frames out of the stack of an error, and adds others behind those that it has. */
export const showOwnLines = (thrown: unknown, more: readonly string[] = []): void => {
  if (!(thrown instanceof Error) || typeof thrown.stack !== "string") return;
  const lines = thrown.stack.split("\n");
  const begin = lines.findIndex(isFrame);
  const head = begin === -1 ? lines : lines.slice(0, begin);
  const own = lines.slice(head.length).filter(isOwn);
  const frames = [...own, ...more.filter((line) => !own.includes(line))];
  if (frames.length === 0) return;
  const value = [...head, ...frames].join("\n");
  Reflect.defineProperty(thrown, "stack", { configurable: true, writable: true, enumerable: false, value });
};

const ownFramesHere = (): readonly string[] => {
  const { stack = "" } = new Error();
  return stack.split("\n").filter(isOwn);
};

/** Rejects a promise with an error that names the lines of who waits for it. Calls `found` once it has them. */
export const rejectAt = (
  thrown: unknown,
  resolve: (none: never) => void,
  reject: (thrown: unknown) => void,
  found: () => void,
): Promise<void> =>
  Promise.resolve()
    .then((): never => {
      showOwnLines(thrown, ownFramesHere());
      found(); // V8 names nobody where two wait.
      throw thrown;
    })
    .then(resolve, reject); // These two themselves: it is by them that V8 finds who waits.

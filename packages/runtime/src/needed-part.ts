/** What turns out to need code that a page has not loaded is done again with it: until then it has changed nothing. */
import { NotLoaded } from "@pawl/tool-value";
import { late } from "./late-part.ts";

const loadedFor = (thrown: unknown): Promise<unknown> => {
  if (!(thrown instanceof NotLoaded)) throw thrown;
  return late.load();
};

export const withParts = async <A>(act: () => A | Promise<A>): Promise<A> => {
  try {
    return await act();
  } catch (thrown) {
    await loadedFor(thrown);
    return act();
  }
};

/** The same at once, if it can be done at once: then there is nothing to wait for. */
export const atOnceOr = (act: () => void): Promise<void> | undefined => {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return loadedFor(thrown).then(act);
  }
};

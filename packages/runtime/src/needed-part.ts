/** What turns out to need code that a page has not loaded is done again with it: until then it has changed nothing. */
import { NotLoaded } from "@pawl/tool-value";
import { late } from "./late-part.ts";

export const withParts = async <A>(act: () => A | Promise<A>): Promise<A> => {
  try {
    return await act();
  } catch (thrown) {
    if (!(thrown instanceof NotLoaded)) throw thrown;
    await late.load();
    return act();
  }
};

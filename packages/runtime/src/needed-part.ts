/** What turns out to need code that a page has not loaded is done again with it: until then it has changed nothing. */
import { NotLoaded } from "@pawl/tool-value";
import { flowParts } from "./flow-part.ts";
import { scopeParts } from "./scope-part.ts";

const loadAll = (): Promise<unknown> => Promise.all([flowParts.load(), scopeParts.load()]);

export const withParts = async <A>(act: () => A | Promise<A>): Promise<A> => {
  try {
    return await act();
  } catch (thrown) {
    if (!(thrown instanceof NotLoaded)) throw thrown;
    await loadAll();
    return act();
  }
};

/** A scope as it stands, without owning it: in memory, or folded from its log. */
import type { Journal } from "../../journal/journal.ts";
import type { Ephemeral } from "../../session/observe/observation.ts";
import { openState } from "../../scope/load-scope.ts";
import type { ScopeRunner } from "../../scope/runner.ts";
import type { Glimpse } from "./session-work.ts";

interface Watched {
  readonly runner: Pick<ScopeRunner, "state" | "isAbandoned">;
  readonly scopeLinks: { readonly tell: (observation: Ephemeral) => void };
}
type Open = Promise<Watched>;

/** One that is not in memory has an owner all the same, who is alive until its lease has run out. */
const glimpse = async (journal: Journal, scope: string, open: Open | undefined): Promise<Glimpse> => {
  const session = await open?.catch(() => undefined); // It could not be opened: its log is what is known.
  if (session !== undefined && !session.runner.isAbandoned) return { state: session.runner.state, isAlive: true };
  const { state } = await openState(journal, scope, undefined, () => undefined);
  const lost = await journal.lost();
  return { state, isAlive: !lost.includes(state.scope.owner) };
};

/** How a scope sees others, and is heard by those who watch them. */
export const viewsOf = (journal: Journal, open: ReadonlyMap<string, Open>) => ({
  glimpse: (of: string): Promise<Glimpse> => glimpse(journal, of, open.get(of)),
  showIn: (of: string, said: Ephemeral): void =>
    void open.get(of)?.then(
      ({ scopeLinks }) => scopeLinks.tell(said),
      () => undefined, // Nobody watches what could not be opened.
    ),
});

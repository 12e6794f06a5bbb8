/**
 * The takeover: a new leader continues the scopes that the tab before it left unfinished. Before that it has put up a fence in
 * the journal (`journal/writer-fence.ts`), which the appends of the tab before it fail at.
 */
import { type Journal, type Runtime, Quarantined, ScopeMoved, ScopeMoving } from "@pawl/runtime";
import { isAtRest, openState } from "@pawl/runtime/driver";

const atOnce = 100;

/** Returns true for scopes that are skipped: moved or moving ones, and those in quarantine. */
const isElsewhere = (thrown: unknown): boolean =>
  thrown instanceof ScopeMoved || thrown instanceof ScopeMoving || thrown instanceof Quarantined;

const resume = async (journal: Journal, runtime: Runtime, scope: string, owner: string): Promise<void> => {
  const held = await journal.load(scope, owner);
  if (held === undefined || !scope.startsWith("session:")) return;
  const { state } = await openState(journal, scope, held, () => undefined);
  if (state.scope.status.type === "open" && isAtRest(state)) return journal.release(scope, owner);
  await runtime.session(scope.slice("session:".length));
};

/** Opens the sessions that another tab left unfinished, releases those at rest, and recovers everything else that is due. */
export const takeOver = async (
  journal: Journal,
  runtime: Runtime,
  instance: string,
  fault: (what: string, thrown: unknown) => void,
): Promise<void> => {
  for (let after = ""; ;) {
    const entries = await journal.scopes("", after, atOnce);
    for (const { scope, owner } of entries) {
      if (owner === undefined || owner === instance) continue;
      await resume(journal, runtime, scope, owner).catch((thrown: unknown) => {
        if (!isElsewhere(thrown)) fault(`${scope} was not taken over`, thrown);
      });
    }
    const last = entries.at(-1);
    if (entries.length < atOnce || last === undefined) break;
    after = last.scope;
  }
  await runtime.recover();
};

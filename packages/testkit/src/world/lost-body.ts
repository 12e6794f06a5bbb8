/** Bodies that were under way when their process was lost, and that nobody runs again: their tools say so. */
import { type Event, type Recovery, type State, recoveryOf } from "@pawl/sansio-core";

export interface LostBody {
  readonly tool: string;
  readonly recovery: Recovery;
}

export class LostBodies {
  readonly #bodies = new Map<string, LostBody>();

  get all(): readonly LostBody[] {
    return [...this.#bodies.values()];
  }

  taken({ scope, calls }: State, event: Event, after: State): void {
    if (event.type === "call.resumed") this.#bodies.delete(`${scope.id} ${event.call}`);
    if (event.type !== "scope.opened" && event.type !== "owner.lost") return;
    for (const row of calls.rows()) {
      const { ref } = row.call;
      if (row.phase !== "running" || after.calls.at(ref)?.phase === "running") continue;
      const recovery = recoveryOf(row.body.manifest);
      if (recovery !== "rerunnable") this.#bodies.set(`${scope.id} ${ref}`, { tool: row.tool, recovery });
    }
  }
}

/** Final checks of background runs and schedules: their logs, and the record of outside effects. */
import { join } from "node:path";
import type { Journal } from "@pawl/runtime";
import { recordedIn } from "@pawl/runtime/driver";
import { type Event, type State, follow, initial } from "@pawl/sansio-core";
import { type Schedule, type Task, isTerminal, runKind } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { sqliteJournal } from "../../src/index.ts";
import { Outside } from "./outside.ts";

const isRecurring = ({ schedule_type: type }: Schedule): boolean => type === "recurring";

interface Log {
  readonly state: State;
  readonly events: readonly Event[];
}

class Check {
  readonly #outside: Outside;
  readonly #logs = new Map<string, Log>();
  readonly wrong: string[] = [];

  constructor(folder: string) {
    this.#outside = new Outside(folder);
  }

  #expect(holds: boolean, message: string): void {
    if (!holds) this.wrong.push(message);
  }

  async log(journal: Journal, scope: string): Promise<void> {
    const chain = await journal.verify(scope);
    this.#expect(chain?.type === "whole", `${scope}: the chain is ${JSON.stringify(chain)}`);
    let state = initial(scope);
    const events: Event[] = [];
    for (const line of await journal.read(scope, 1)) {
      const recorded = recordedIn(scope, line);
      const followed = follow(state, recorded, line.seq);
      if (E.isLeft(followed)) throw new Error(`${scope} ${line.seq}: ${followed.left.message}`);
      ({ state } = followed.right);
      events.push(recorded.event);
    }
    this.#logs.set(scope, { state, events });
  }

  get #session(): Log {
    return this.#logs.get("session:s") as Log;
  }
  get #tasks(): readonly Task[] {
    return [...this.#session.state.background.tasks.values()].map(({ task }) => task);
  }

  /** Checks that nothing is stuck and nothing ends twice. */
  ends(): number {
    const { background } = this.#session.state;
    this.#expect(background.asked.size === 0, "a run is asked for, and has no answer");
    for (const { state, display_name: title } of this.#tasks) {
      this.#expect(isTerminal(state), `task ${title} is ${state}`);
    }
    const runs = [...this.#logs.values()].filter(({ state }) => state.process !== undefined);
    for (const { state, events } of runs) {
      const { id } = state.scope;
      this.#expect(state.process?.status.state !== "running", `${id} is running`);
      this.#expect(state.background.run?.phase === "ended", `${id} is ${state.background.run?.phase}`);
      const ended = events.filter(({ type }) => type === "artifacts.written").length;
      this.#expect(ended === 1, `${id} wrote its files ${ended} times`);
    }
    const started = this.#tasks.filter(({ kind }) => kind === runKind).length;
    this.#expect(runs.length === started, `${runs.length} processes run for ${started} tasks`);
    return started;
  }

  /** Checks that each run has its tool's result, or is an orphan with a reason. */
  outcomes(): void {
    for (const task of this.#tasks) {
      if (task.kind !== runKind) continue;
      const { display_name: title, state, error, result_path: path = "" } = task;
      const isOrphan = error?.kind === "orphaned" && error.message.startsWith("worker heartbeat stopped");
      const wanted = title.includes("endless") ? "canceled" : "succeeded";
      const mayBeLost = title.includes("mail");
      this.#expect(state === wanted || (mayBeLost && isOrphan), `${title} is ${state}: ${JSON.stringify(error)}`);
      const status = { succeeded: undefined, failed: '"failed"', canceled: '"canceled"' }[state as "failed"];
      const result = this.#outside.read(path);
      this.#expect(result?.includes(status ?? "") === true, `${title} is ${state}, its result ${result}`);
    }
  }

  /** Checks that each recorded result has one outside effect. Unrecorded effects were lost with a host. */
  effects(): void {
    const made = Map.groupBy(this.#outside.noted("marks"), (mark) => mark);
    const recorded = [...this.#logs.values()].flatMap(({ events }) =>
      events.flatMap((event) =>
        event.type === "step.settled" && event.result.status === "ok" ? [event.result.value] : [],
      ),
    );
    const marks = new Set(recorded.map(String));
    this.#expect(marks.size > 0 && marks.size === recorded.length, `${marks.size} of ${recorded.length} are marks`);
    for (const mark of marks) this.#expect(made.get(mark)?.length === 1, `${mark} was made ${made.get(mark)?.length}`);
    const mails = Map.groupBy(this.#outside.noted("mails"), (life) => life);
    for (const [life, all] of mails) this.#expect(all.length === 1, `life ${life} mailed ${all.length} times`);
  }

  /** Checks that the session heard of each end that it subscribed to. */
  told(): void {
    const keys = new Set(this.#outside.noted("told"));
    for (const { run, task } of this.#session.state.background.tasks.values()) {
      if (run === undefined) continue;
      this.#expect(keys.has(`run:${run.run}`) === run.signal, `${task.display_name}: told is ${!run.signal}`);
    }
  }

  /** Checks that one-shot schedules fired if requested in time, and that each fire started one run. */
  fires(): void {
    const schedules = [...this.#session.state.schedules.rows.values()].map(({ schedule }) => schedule);
    const [recurring, once] = [schedules.filter(isRecurring), schedules.filter((one) => !isRecurring(one))];
    const inTime = once.filter(({ scheduled_at: at = 0, created_at: created }) => at > created);
    for (const { id, enabled } of schedules) this.#expect(!enabled, `${id} is enabled`);
    for (const { id, trigger_count: count } of recurring) this.#expect(count >= 2, `${id} fired ${count} times`);
    for (const { id, trigger_count: count } of inTime) this.#expect(count === 1, `${id} fired ${count} times`);
    const started = this.#tasks.filter(({ display_name: title }) => title === "fired").length;
    const heard = this.#session.events.filter(({ type, ...of }) => {
      return type === "session.told" && "key" in of && of.key.startsWith("schedule:");
    });
    this.#expect(started === heard.length, `${heard.length} fires that were told started ${started} runs`);
    const monitors = this.#tasks.filter(({ kind }) => kind === "monitor");
    const done = monitors.filter(({ state }) => state === "succeeded").length;
    this.#expect(monitors.length === schedules.length, `${monitors.length} monitors of ${schedules.length}`);
    this.#expect(done === inTime.length, `${done} monitors succeeded, and ${inTime.length} fired once`);
  }
}

export const checkRuns = async (
  folder: string,
): Promise<{ readonly runs: number; readonly wrong: readonly string[] }> => {
  const check = new Check(folder);
  const journal = sqliteJournal(join(folder, "journal.db"));
  try {
    for (const { scope } of await journal.scopes("", "", 10_000)) await check.log(journal, scope);
    const runs = check.ends();
    check.outcomes();
    check.effects();
    check.told();
    check.fires();
    return { runs, wrong: check.wrong };
  } finally {
    await journal.close();
  }
};

/** Performs the commands of a scope that concern background runs, tasks and schedules. */
import type { CommandOf, Event } from "@pawl/sansio-core";
import type { Plan, ProbeOutcome } from "@pawl/sansio-core/driver";
import { sessionOf } from "../../host/host.ts";
import type { ScopeAccess } from "../work.ts";
import { decodedEvent } from "../../scope/access.ts";
import type { BackgroundHost } from "../host.ts";
import type { Watch } from "../scope-links.ts";
import type { Places } from "./background.ts";
import { writeArtifacts } from "./report.ts";
import { LongWorkRequests } from "./request.ts";

export type LongWorkCommand = CommandOf<
  | "permit.take"
  | "permit.release"
  | "spawn.answer"
  | "artifacts.write"
  | "session.tell"
  | "task.observe"
  | "run.observe"
  | "schedule.next"
  | "schedule.answer"
  | "probe.run"
>;

interface LongWorkPort {
  readonly scope: ScopeAccess;
  readonly watch: Watch;
  readonly places: Places;
  readonly host: BackgroundHost;
}

const pauseMs = (tries: number): number => Math.min(60_000, 1000 * 2 ** tries);

/** A message to the host. */
export interface Delivery {
  /** The key of its row in the outbox. */
  readonly key: string;
  readonly deliver: () => Promise<void>;
  /** Records that the host has it. */
  readonly told: Event;
  readonly what: string;
}

/** Delivers a message from the outbox to the host, again after longer and longer pauses, until the host takes it or the scope is lost. */
export const deliverToHost = async (scope: ScopeAccess, { key, deliver, told, what }: Delivery): Promise<void> => {
  const { runner, platform } = scope;
  for (let tries = 0; !runner.isAbandoned && runner.state.outbox.has(key); tries++) {
    try {
      await deliver();
      if (!runner.isAbandoned) runner.apply(told);
      return;
    } catch (thrown) {
      scope.report(what, thrown);
      await new Promise<void>((resolve) => void platform.later(pauseMs(tries), resolve));
    }
  }
};

const noCalendar: Plan = { status: "none", message: "this host evaluates no cron expressions: give it a calendar" };

export class LongWork {
  readonly #port: LongWorkPort;
  readonly asked: LongWorkRequests;

  constructor(port: LongWorkPort) {
    this.#port = port;
    this.asked = new LongWorkRequests(port.scope);
  }

  async perform(command: LongWorkCommand): Promise<void> {
    const { scope, places, watch } = this.#port;
    switch (command.type) {
      case "permit.take":
        return this.#permit(command);
      case "permit.release":
        return places.release(command.run, scope.runner.id);
      case "artifacts.write":
        return this.#write(command);
      case "session.tell":
        return this.#tell(command);
      case "schedule.next":
        return this.#plan(command);
      case "probe.run":
        return this.#probe(command);
      case "spawn.answer":
        return this.asked.runs.give(command.run, command.answer);
      case "schedule.answer":
        return this.#answer(command);
      case "task.observe":
      case "run.observe":
        return watch.look();
    }
  }

  async #permit({ run }: CommandOf<"permit.take">): Promise<void> {
    const { scope, places } = this.#port;
    await undefined; // The step that asks must end before its answer is applied.
    if (scope.runner.isAbandoned) return;
    const hasPlace = places.take(run, scope.runner.id);
    const permit = hasPlace ? ({ status: "granted" } as const) : ({ status: "refused", limit: places.limit } as const);
    scope.runner.apply({ type: "permit.answered", run, permit });
  }

  async #write(command: CommandOf<"artifacts.write">): Promise<void> {
    const { scope, host } = this.#port;
    const written = await writeArtifacts(scope, host, command);
    if (!scope.runner.isAbandoned) scope.runner.apply({ type: "artifacts.written", attempt: command.attempt, written });
  }

  /** Sends a message to a session. Without a receiver it counts as delivered. */
  #tell({ key, text, schedule }: CommandOf<"session.tell">): Promise<void> {
    const { scope, host } = this.#port;
    const session = sessionOf(scope.runner.state);
    const message = { session, key, text, ...(schedule === undefined ? {} : { schedule }) };
    const deliver = async (): Promise<void> => host.tell?.(message);
    return deliverToHost(scope, { key, deliver, told: { type: "session.told", key }, what: `session message ${key}` });
  }

  async #plan(command: CommandOf<"schedule.next">): Promise<void> {
    const { scope } = this.#port;
    const { schedule, after } = command;
    const plan = await this.#planOf(command);
    if (plan !== undefined && !scope.runner.isAbandoned) {
      scope.runner.apply({ type: "schedule.planned", schedule, after, plan });
    }
  }

  /** Finds the next fire. If the host has no calendar, or it fails, a new schedule is refused and an existing one stays. */
  async #planOf(command: CommandOf<"schedule.next">): Promise<Plan | undefined> {
    const { scope, host } = this.#port;
    const { schedule, cron_expression: expression, timezone, after } = command;
    try {
      if (host.plan !== undefined) {
        const plan = await host.plan(expression, timezone, after);
        decodedEvent({ type: "schedule.planned", schedule, after, plan });
        return plan;
      }
    } catch (thrown) {
      scope.report(`the next fire of schedule ${schedule}`, thrown);
    }
    const isNew = scope.runner.state.schedules.rows.get(schedule)?.asked?.isNew === true;
    return isNew ? noCalendar : undefined;
  }

  /** Answers a request for a schedule. A monitor whose task could not be created works all the same. */
  #answer({ schedule, answer }: CommandOf<"schedule.answer">): void {
    const { scope } = this.#port;
    const { monitor } = scope.runner.state.schedules.rows.get(schedule) ?? {};
    if (monitor !== undefined && answer.status === "created" && answer.task === null) {
      const taken = new Error(`schedule ${schedule}: task ${monitor.task} is there already`);
      scope.report("Failed to create monitor task for schedule (best-effort)", taken);
    }
    this.asked.schedules.give(schedule, answer);
  }

  async #probe(command: CommandOf<"probe.run">): Promise<void> {
    const { scope } = this.#port;
    const { schedule, fire } = command;
    const outcome = await this.#probed(command);
    if (!scope.runner.isAbandoned) scope.runner.apply({ type: "probe.answered", schedule, fire, outcome });
  }

  async #probed(command: CommandOf<"probe.run">): Promise<ProbeOutcome> {
    const { type: _, ...probe } = command;
    const { scope, host } = this.#port;
    if (host.probe === undefined) return { type: "skipped" };
    try {
      const outcome = await host.probe({ session: sessionOf(scope.runner.state), ...probe });
      const { schedule, fire } = probe;
      decodedEvent({ type: "probe.answered", schedule, fire, outcome });
      return outcome;
    } catch (thrown) {
      scope.report(`the probe of schedule ${probe.schedule}`, thrown);
      return { type: "skipped" };
    }
  }

  abandon(error: Error): void {
    this.#port.places.forget(this.#port.scope.runner.id);
    this.asked.abandon(error);
  }
}

/**
 * Copies a log so that each live body starts again at once. Everything that would keep it waiting is removed: a
 * suspension, a pause, a missing executor, an unknown outcome, a host's hook.
 */
import { type Event, type Options, type Recorded, type Rejection, type State, initial, write } from "@pawl/sansio-core";
import { optionsUnder } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";

export interface Line {
  readonly seq: number;
  readonly line: string;
}

/** A log that cannot be copied, because its events no longer fit each other. */
export class CopyError extends Error {
  override readonly name = "CopyError";
}

/** Restarts lost bodies without a pause, as often as they are lost. */
const withoutPauses = (options: Options, protocol: number): Options =>
  optionsUnder(protocol, {
    ...options,
    resume_pauses_ms: options.resume_pauses_ms.map(() => 0),
    crash_pauses_ms: [],
  });

/** Asks no host, and restarts lost bodies without a pause. */
const withoutWaits = ({ options, protocol }: State["scope"]): Options => ({
  ...withoutPauses(options, protocol),
  before_hook: false,
  after_hook: false,
  projection: false,
});

/** Returns the events that suspended the calls which are suspended now. */
const suspensions = (events: readonly Recorded[], state: State): ReadonlySet<number> => {
  const last = new Map<string, number>();
  for (const { seq, event } of events) if (event.type === "call.suspended") last.set(event.call, seq);
  return new Set([...last].flatMap(([call, seq]) => (state.calls.at(call)?.phase === "suspended" ? [seq] : [])));
};

const changed = ({ seq, event }: Recorded, suspended: ReadonlySet<number>): Event => {
  if (suspended.has(seq)) return { type: "clock.ticked" };
  return event.type === "scope.opened" ? { ...event, options: withoutPauses(event.options, event.protocol) } : event;
};

/** Returns the events after which nothing waits for the host and each body can start. */
const endings = (state: State): readonly Event[] => [
  { type: "scope.configured", options: withoutWaits(state.scope) },
  ...state.calls.rows().flatMap((row): readonly Event[] => {
    const call = row.call.ref;
    switch (row.phase) {
      case "preparing":
        return row.waits === "hook"
          ? [{ type: "hook.ran", call, phase: "before", outcome: { status: "ok", directives: [] } }]
          : [];
      case "finishing":
        return row.waits === "hook"
          ? [{ type: "hook.ran", call, phase: "after", outcome: { status: "ok", directives: [] } }]
          : [{ type: "result.projected", call, parts: null }];
      case "unknown":
        return [{ type: "outcome.resolved", call, resolved: { type: "run_again" }, by: "check-upgrade" }];
      case "no_executor":
        return [{ type: "executors.available", tools: [row.body.manifest.id] }];
      default:
        return [];
    }
  }),
];

class Copy {
  readonly lines: Line[] = [];
  state: State;

  constructor(state: State) {
    this.state = state;
  }

  apply(at: number, event: Event): E.Either<Rejection, unknown> {
    const seq = this.state.seq + 1;
    const written = write(this.state, { seq, at, event });
    if (E.isLeft(written)) return written;
    this.state = written.right.state;
    this.lines.push({ seq, line: written.right.line });
    return written;
  }
}

export interface Copied {
  readonly state: State;
  readonly lines: readonly Line[];
}

/** Copies the events; `state` is the state after the last of them. */
export const copyOf = (events: readonly Recorded[], state: State): Copied => {
  const suspended = suspensions(events, state);
  const copy = new Copy(initial(state.scope.id));
  for (const recorded of events) {
    const told = copy.apply(recorded.at, changed(recorded, suspended));
    if (E.isLeft(told)) throw new CopyError(`event ${recorded.seq}, ${recorded.event.type}: ${told.left.message}`);
  }
  for (const event of endings(copy.state)) copy.apply(copy.state.at, event); // A rejection is fine: an earlier event may have answered it.
  return copy;
};

/** A scope as its log tells it: where it stands, and when that came about. */
import {
  type Entered,
  type EventOf,
  type Fault,
  type State,
  type Torn,
  enter,
  initial,
  noneEntered,
} from "@pawl/sansio-core";
import { replayOrRefuse } from "../log/sealed.ts";
import type { LogSource } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { CliError, exit } from "../exit.ts";
import { faultWords } from "../log/fault.ts";

export interface History {
  /** The scope as the command line takes it. */
  readonly name: string;
  readonly state: State;
  /** For each live call the event with which it came to its phase. */
  readonly entered: Entered;
  /** When an event was; unknown before the base of a log. */
  readonly timeOf: (seq: number) => number | undefined;
  /** The last divergence of each call. */
  readonly diverged: ReadonlyMap<string, EventOf<"call.diverged">>;
  readonly torn: Torn | undefined;
  readonly fault: Fault | undefined;
}

/** What a call's program asked in the place of what its log records. */
export const divergenceJson = ({ position, expected, found }: EventOf<"call.diverged">): object => ({
  position,
  expected,
  found,
});

/** Folds a log up to its end or its first fault. */
export const historyOf = async (log: LogSource, terminal: Terminal): Promise<History> => {
  const times: (number | undefined)[] = [];
  const diverged = new Map<string, EventOf<"call.diverged">>();
  let entered: Entered = noneEntered;
  let before: State | undefined;
  const { state, torn, fault, header, base } = await replayOrRefuse(log, terminal, {
    onStep: ({ seq, at, event }, transition) => {
      times[seq] = at;
      if (event.type === "call.diverged") diverged.set(event.call, event);
      const from = before ?? (seq === 1 ? initial(transition.state.scope.id) : transition.state);
      entered = enter(entered, from, transition.state);
      before = transition.state;
    },
  });
  const none = initial(header?.scope ?? "");
  return {
    name: log.name.includes("#") ? log.name : none.scope.id,
    state: state ?? base?.state ?? none,
    entered,
    timeOf: (seq) => times[seq],
    diverged,
    torn,
    fault,
  };
};

/** As `historyOf`; a log that has a fault, or nothing in it, is refused. */
export const soundHistoryOf = async (log: LogSource, terminal: Terminal): Promise<History> => {
  const history = await historyOf(log, terminal);
  const { fault, state } = history;
  if (fault === undefined && state.seq > 0) return history;
  if (fault === undefined) throw new CliError("log_empty", `${log.name} has no events`, { exit: exit.wrong });
  const [head = ""] = faultWords(fault, terminal);
  throw new CliError(fault.code, `${log.name}: ${head}`, { exit: exit.wrong, hint: `pawl log replay ${log.name}` });
};

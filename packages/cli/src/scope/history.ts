/** A scope's history, from its log: its state, and when each part of it came about. */
import { type Event, type EventOf, type Fault, type State, type Transition, initial } from "@pawl/sansio-core";
import { type Entered, type Torn, divergenceWords, enter, noneEntered } from "@pawl/sansio-core/driver";
import { replayOrRefuse } from "../log/replay-log.ts";
import { ToolCallOutput, formatToolOutput } from "@pawl/tool-value";
import type { LogSource } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { CliError, exit } from "../exit.ts";
import { faultWords } from "../log/fault.ts";
import { sinceText } from "./time.ts";

/** Edited arguments that failed the check, so that the call waits for approval again. */
export interface RefusedEdit {
  readonly by: string;
  readonly seq: number;
  readonly message: string;
}

/** A finished call and its result. */
export interface EndOfCall {
  readonly call: string;
  readonly tool: string;
  readonly seq: number;
  readonly output: ToolCallOutput;
}

export interface History {
  /** The scope, as the command line accepts it. */
  readonly name: string;
  readonly state: State;
  /** The event at which each live call entered its phase. */
  readonly entered: Entered;
  /** The time of an event; unknown before the log's base. */
  readonly timeOf: (seq: number) => number | undefined;
  /** Each call's last divergence. */
  readonly diverged: ReadonlyMap<string, EventOf<"call.diverged">>;
  /** Each call's last edit that failed the check. */
  readonly refusedEdits: ReadonlyMap<string, RefusedEdit>;
  /** The end of the call that was asked about. */
  readonly end: EndOfCall | undefined;
  readonly torn: Torn | undefined;
  readonly fault: Fault | undefined;
}

/** Says which request a call's code made, and which one its log has there. */
export const divergenceJson = ({ position, expected, found, version, differs }: EventOf<"call.diverged">): object => ({
  position,
  expected,
  found,
  version,
  differs,
});

const valueWords = (text: string | undefined): string => text ?? "nothing";

/** Says in words which request a call's code made, in which version, and where its input differs. */
export const divergenceLines = (event: EventOf<"call.diverged">): readonly string[] => [
  `at request ${event.position}${event.version === undefined ? "" : ` in version ${event.version}`}: ${divergenceWords(event)}`,
  ...(event.differs?.fields ?? []).map(
    ({ path, expected, found }) =>
      `  ${path || "the input"}: expected ${valueWords(expected)}, found ${valueWords(found)}`,
  ),
];

const endIn = ({ commands }: Transition, seq: number, asked: string): EndOfCall | undefined => {
  for (const command of commands) {
    if (command.type !== "observe" || command.what !== "call_completed" || command.call !== asked) continue;
    const { call, tool, output } = command;
    if (output !== undefined) return { call, tool, seq, output };
  }
  return undefined;
};

/** Returns the error of an edit if the event reports one. */
const refusedEditIn = (before: State | undefined, event: Event, seq: number): RefusedEdit | undefined => {
  if (event.type !== "args.checked" || event.verdict.verdict === "valid") return undefined;
  const row = before?.calls.at(event.call);
  const edited = row?.phase === "awaiting_approval" ? row.approval.edited : undefined;
  const message = event.verdict.verdict === "invalid" ? event.verdict.message : "its tool is not registered here";
  return edited && { by: edited.by, seq, message };
};

/** Folds a log up to its end or its first fault. Keeps the end of the asked call only. */
export const historyOf = async (log: LogSource, terminal: Terminal, asked?: string): Promise<History> => {
  const times: (number | undefined)[] = [];
  const diverged = new Map<string, EventOf<"call.diverged">>();
  const refusedEdits = new Map<string, RefusedEdit>();
  let entered: Entered = noneEntered;
  let before: State | undefined;
  let end: EndOfCall | undefined;
  const { state, torn, fault, header, base } = await replayOrRefuse(log, terminal, {
    onStep: ({ seq, at, event }, transition) => {
      times[seq] = at;
      if (event.type === "call.diverged") diverged.set(event.call, event);
      const refused = refusedEditIn(before, event, seq);
      if (refused !== undefined && "call" in event) refusedEdits.set(event.call, refused);
      if (asked !== undefined) end = endIn(transition, seq, asked) ?? end;
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
    refusedEdits,
    end,
    torn,
    fault,
  };
};

/** Folds a log, or throws if it is empty or has a fault. */
export const checkedHistoryOf = async (log: LogSource, terminal: Terminal, asked?: string): Promise<History> => {
  const history = await historyOf(log, terminal, asked);
  const { fault, state } = history;
  if (fault === undefined && state.seq > 0) return history;
  if (fault === undefined) throw new CliError("log_empty", `${log.name} has no events`, { exit: exit.wrong });
  const [head = ""] = faultWords(fault, terminal);
  throw new CliError(fault.code, `${log.name}: ${head}`, { exit: exit.wrong, hint: `pawl log replay ${log.name}` });
};

const outcomeWords = ({ outcome }: ToolCallOutput): string => {
  switch (outcome.status) {
    case "success":
      return "succeeded";
    case "failure":
      return `failed: ${outcome.payload.code}`;
    case "cancelled":
      return "was cancelled";
  }
};

export const endedJson = ({ timeOf }: History, { call, tool, seq, output }: EndOfCall): object => ({
  call,
  tool,
  seq,
  at: timeOf(seq),
  output: ToolCallOutput.encode(output),
});

export const endedWords = (
  { timeOf }: History,
  { call, tool, seq, output }: EndOfCall,
  { now, paint }: Terminal,
): readonly string[] => {
  const at = timeOf(seq);
  const when = at === undefined ? "" : `, ${sinceText(at, now())}`;
  const style = output.outcome.status === "success" ? "green" : "red";
  return [
    `${paint("bold", call)}  ${tool}  ${paint(style, outcomeWords(output))}  ${paint("dim", `at event ${seq}${when}`)}`,
    ...formatToolOutput(output)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
};

/** Everything about one event: its line, its changes and commands, the state after it, and what that state waits for. */
import {
  type Recorded,
  type State,
  type Transition,
  effectWords,
  otherWords,
  waitsWords,
  why,
} from "@pawl/sansio-core";
import { type CallWaits, type Deadline, commandsLine, pendingApprovals, producedBy } from "@pawl/sansio-core/driver";
import { type Json, noLimits, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { commandWords, dutyWords } from "./command-words.ts";
import { type RowChange, type Section, changesBetween, plain, treeOf } from "./tree.ts";

export interface CommandView {
  readonly type: string;
  readonly words: string;
  readonly duty: string;
  readonly json: Json;
}

export interface Waiting {
  /** The call that waits, if it is a call. */
  readonly call?: string;
  readonly words: string;
  /** The event that began the wait. */
  readonly since?: number;
  readonly until?: number;
  readonly movedBy: readonly string[];
}

/** A moment of a log. After a fault only the lines are known. */
export interface Moment {
  readonly seq: number;
  readonly line: string;
  readonly json: Json;
  readonly known?: {
    readonly at: number;
    readonly commands: readonly CommandView[];
    readonly deadline?: Deadline;
    readonly changes: readonly RowChange[];
    readonly tree: readonly Section[];
    readonly waiting: readonly Waiting[];
  };
}

const jsonOf = (line: string): Json => plain(E.getOrElse((): Json => null)(parse(line, noLimits)));

const commandsOf = (seq: number, transition: Transition): readonly CommandView[] => {
  const { commands } = jsonOf(commandsLine(seq, producedBy(transition))) as { readonly commands: readonly Json[] };
  return transition.commands.map((command, i) => ({
    type: command.type,
    words: commandWords(command),
    duty: dutyWords(command),
    json: commands[i] ?? null,
  }));
};

type When = Pick<Waiting, "since" | "until">;
const timed = ({ since, until }: { readonly since?: number; readonly until?: number }): When => ({
  ...(since !== undefined && { since }),
  ...(until !== undefined && { until }),
});

const maxReasons = 200;

const longestArgs = 200;

/** Says what a call waits for; a person's approval with the arguments that are asked about. */
const wordsOf = (what: CallWaits, args: Json | undefined): string => {
  if (what.type !== "approval" || args === undefined) return waitsWords(what);
  const text = stringify(args);
  return `a person's approval of ${text.length > longestArgs ? `${text.slice(0, longestArgs)}…` : text}`;
};

const waitingIn = (state: State): readonly Waiting[] => {
  const { calls, others } = why(state);
  const asked = new Map(pendingApprovals(state).map(({ call, args }) => [call as string, args]));
  const argsOf = (call: string): Json | undefined => asked.get(call);
  const ofCalls = calls.slice(0, maxReasons).flatMap((reason) => {
    const { call, tool, what, movedBy } = reason;
    const effects = "effects" in what ? what.effects : [];
    return [
      { call, words: `${tool} waits for ${wordsOf(what, argsOf(call))}`, movedBy, ...timed(reason) },
      ...effects.map((effect) => ({
        call,
        words: `its body waits for ${effectWords(effect)}`,
        movedBy: effect.movedBy,
        ...timed(effect),
      })),
    ];
  });
  const ofOthers = others.slice(0, maxReasons).map((reason) => ({
    words: otherWords(reason.what),
    movedBy: reason.movedBy,
    ...timed(reason),
  }));
  return [...ofCalls, ...ofOthers];
};

export const momentOf = (line: string, recorded: Recorded, before: State, transition: Transition): Moment => {
  const { seq, at } = recorded;
  const { deadline } = producedBy(transition);
  return {
    seq,
    line,
    json: jsonOf(line),
    known: {
      at,
      commands: commandsOf(seq, transition),
      ...(deadline !== undefined && { deadline }),
      changes: changesBetween(before, transition.state),
      tree: treeOf(before, transition.state),
      waiting: waitingIn(transition.state),
    },
  };
};

/** Returns the moment of a line after a fault. */
export const unknownMomentOf = (seq: number, line: string): Moment => ({ seq, line, json: jsonOf(line) });

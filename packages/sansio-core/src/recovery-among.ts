/** What is still asked of the world for processes, background runs and schedules, and what is still to be said to other scopes. */
import { writing } from "./background/run.ts";
import type { Born } from "./born.ts";
import type { Command } from "./command.ts";
import { sendingsOf, unansweredOf } from "./link/model.ts";
import { planning, probing } from "./schedule/step.ts";
import type { State } from "./state.ts";

/** Each link's messages in their order; of two links' at one place in the log those to the lesser peer first. */
const ofLinks = (state: State): Born[] =>
  state.links
    .values()
    .toSorted((a, b) => (a.peer < b.peer ? -1 : 1))
    .flatMap(sendingsOf)
    .map(({ born, ...sending }) => ({ born, index: sending.number, command: { type: "send", ...sending } }));

const first = (command: Command): Born => ({ born: 0, index: 0, command });

const ofProcess = ({ process: row }: State): Born[] => {
  if (row === undefined) return [];
  const { id, env_ref = "" } = row.registration;
  if (row.run === "env") return [first({ type: "env.load", process: id, env_ref })];
  if (row.run !== "engine") return [];
  const run = first({ type: "engine.run", process: id });
  return row.cancelled ? [run, { ...first({ type: "engine.cancel", process: id }), index: 1 }] : [run];
};

const ofBackground = ({ background: { asked, run }, process }: State): Born[] => {
  const permits = asked.values().map(({ run: name, born }): Born => ({
    born,
    index: 0,
    command: { type: "permit.take", run: name },
  }));
  if (run?.phase !== "finishing" || process === undefined) return permits;
  return [...permits, first(writing(process.registration.id, run))];
};

const ofSchedules = ({ schedules }: State): Born[] =>
  schedules.rows.values().flatMap((row) => {
    const { schedule, born, asked, probe } = row;
    const commands = [
      ...(asked === undefined ? [] : [planning(schedule, asked.after)]),
      ...(probe === undefined ? [] : probing(row, probe)),
    ];
    return commands.map((command) => ({ born, index: 0, command }));
  });

const owing = [ofProcess, ofBackground, ofSchedules] as const;

/** Whether it has to be looked after for a process, a run, a schedule, or words on their way. */
export const owesAmong = (state: State): boolean =>
  state.links.some((row) => unansweredOf(row) > 0) || owing.some((of) => of(state).length > 0);

export const outstandingAmong = (state: State): readonly Born[] => [
  ...ofLinks(state),
  ...ofProcess(state),
  ...ofBackground(state),
  ...ofSchedules(state),
];

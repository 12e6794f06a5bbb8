/** What background runs and schedules wait for. */
import type { ScheduleRow } from "../schedule/model.ts";
import type { State } from "../kernel/state.ts";
import type { OtherReason } from "./model.ts";

const ofRuns = ({ background: { asked, run }, process }: State): readonly OtherReason[] => {
  const permits = asked.values().map(({ run: name, born }): OtherReason => ({
    what: { type: "permit", run: name },
    since: born,
    movedBy: ["permit.answered"],
  }));
  if (run?.phase !== "finishing" || process === undefined) return permits;
  const what = { type: "artifacts", process: process.registration.id, attempt: run.attempt } as const;
  return [...permits, { what, movedBy: ["artifacts.written"] }];
};

const ofSchedule = ({ schedule: { id }, asked, due, probe }: ScheduleRow): readonly OtherReason[] => {
  const reasons: OtherReason[] = [];
  if (due !== undefined) {
    const what = { type: "schedule", schedule: id } as const;
    reasons.push({ what, since: due.birth, until: due.at, movedBy: ["schedule.cancelled"] });
  }
  if (asked !== undefined) {
    reasons.push({ what: { type: "planning", schedule: id, after: asked.after }, movedBy: ["schedule.planned"] });
  }
  if (probe !== undefined) {
    reasons.push({ what: { type: "probe", schedule: id, fire: probe }, movedBy: ["probe.answered"] });
  }
  return reasons;
};

export const longReasons = (state: State): readonly OtherReason[] => [
  ...ofRuns(state),
  ...state.schedules.rows.values().flatMap(ofSchedule),
];

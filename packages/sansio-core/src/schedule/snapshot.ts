/** Schedules in a snapshot: as they are. */
import { type Codec, array, boolean, defaulted, optional, record, u64 } from "@pawl/tool-value";
import type { SnapshotPart } from "../concern.ts";
import { type Deadline } from "../kernel/deadline.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { MonitorCodec } from "../run/codec.ts";
import { ScheduleCodec } from "./codec.ts";
import type { ScheduleRow, ScheduleRows } from "./model.ts";
import { schedulesOf } from "./table.ts";

const DeadlineCodec: Codec<Deadline> = record<Deadline>("struct Deadline", { at: u64, birth: u64 });
const AskingCodec = record<NonNullable<ScheduleRow["asked"]>>("struct Asking", { after: u64, isNew: boolean });

const ScheduleRowCodec: Codec<ScheduleRow> = record<ScheduleRow>("struct ScheduleRow", {
  schedule: ScheduleCodec,
  born: u64,
  monitor: optional(MonitorCodec),
  asked: optional(AskingCodec),
  due: optional(DeadlineCodec),
  probe: optional(u64),
});

interface Shape {
  readonly schedules: readonly ScheduleRow[];
}

export const scheduleSnapshot: SnapshotPart<Shape, ScheduleRows> = {
  fields: {
    schedules: defaulted<readonly ScheduleRow[]>(array(ScheduleRowCodec), [], (list) => list.length === 0),
  },
  write: ({ schedules: { rows } }) => ({ schedules: rows.values().toSorted((a, b) => a.born - b.born) }),
  read: (shape) => {
    const rows = PersistentMap.of(shape.schedules.map((row) => [row.schedule.id, row]));
    return rows.size === shape.schedules.length ? { schedules: schedulesOf(rows) } : undefined;
  },
};

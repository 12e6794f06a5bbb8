import { describe, expect, it } from "vitest";
import type { NewSchedule, ProbeOutcome } from "../../src/schedule/model.ts";
import { instantOf, instantText } from "../../src/schedule/model.ts";
import { nextDeadline } from "../../src/machine.ts";
import { Rig } from "../rig.ts";

const monitor = { task: "task_1", title: "Watch", tool: "look", arguments: { n: 1 }, signal_on_completion: true };
const hour: NewSchedule = { id: "sched_1", description: "Look at it", cron_expression: "0 * * * *", timezone: "UTC" };
const once = (at: number): NewSchedule => ({ id: "sched_1", description: "Once", scheduled_at: at, timezone: "UTC" });

const asked = (schedule: NewSchedule = hour, options = {}): Rig =>
  Rig.open([], options).tell({ type: "schedule.requested", schedule });
const planned = (rig: Rig, at: number, interval_s = 3600): Rig => {
  const { after = 0 } = rig.state.schedules.rows.get("sched_1")?.asked ?? {};
  return rig.tell({ type: "schedule.planned", schedule: "sched_1", after, plan: { status: "next", at, interval_s } });
};
const standing = (more: Partial<NewSchedule> = {}, options = {}): Rig => {
  const rig = asked({ ...hour, ...more }, options).skip();
  return planned(rig, rig.at + 5000).skip();
};
const rowOf = (rig: Rig) => rig.state.schedules.rows.get("sched_1")?.schedule;
const taskOf = (rig: Rig) => rig.state.background.tasks.get("task_1");

describe("a schedule", () => {
  it("that recurs asks when it is next, stands when it knows, and its session's deadline is its fire", () => {
    const rig = asked();
    rig.wants({
      type: "schedule.next",
      schedule: "sched_1",
      cron_expression: "0 * * * *",
      timezone: "UTC",
      after: rig.at,
    });
    planned(rig, rig.at + 5000)
      .wants({ type: "schedule.answer", schedule: "sched_1" })
      .nothingMore();
    expect(rowOf(rig)).toMatchObject({ enabled: true, schedule_type: "recurring", next_trigger_at: rig.at + 5000 });
    expect(nextDeadline(rig.state)).toMatchObject({ at: rig.at + 5000, key: "sched_1" });
  });

  it("fires at its time: its session is told as if by its user, and it asks for the next, after now", () => {
    const rig = standing().tick(5000);
    rig.wants({ type: "schedule.next", after: rig.at });
    rig
      .wants({ type: "session.tell", key: "schedule:sched_1:1", text: "Look at it", schedule: "sched_1" })
      .nothingMore();
    expect(rowOf(rig)).toMatchObject({ trigger_count: 1, last_triggered_at: rig.at });
    expect(nextDeadline(rig.state)).toBeUndefined();
  });

  it("with an interval asks nobody, and fires at multiples of it", () => {
    const rig = Rig.open([]);
    const start = rig.at;
    const every = { id: "sched_1", description: "Look", every_ms: 600_000, timezone: "UTC" };
    rig.tell({ type: "schedule.requested", schedule: every }).wants({ type: "schedule.answer" }).nothingMore();
    expect(rowOf(rig)).toMatchObject({ schedule_type: "recurring", next_trigger_at: start + 600_000 });
    rig.tick(600_000).wants({ type: "session.tell", key: "schedule:sched_1:1" }).nothingMore();
    rig.tick(1_500_000).wants({ type: "session.tell", key: "schedule:sched_1:2" }).nothingMore();
    expect(rowOf(rig)).toMatchObject({ trigger_count: 2, next_trigger_at: start + 2_400_000 });
  });

  it("that slept through ten fires makes up for none of them", () => {
    const rig = standing().tick(50_000_000);
    rig.wants({ type: "schedule.next", after: rig.at }).wants({ type: "session.tell" }).nothingMore();
    expect(rowOf(rig)?.trigger_count).toBe(1);
  });

  it("that fires once is over when it has; one whose time is past stands, and never fires", () => {
    const rig = Rig.open([]);
    rig.tell({ type: "schedule.requested", schedule: once(rig.at + 5000) });
    rig.wants({ type: "schedule.answer" }).nothingMore();
    rig.tick(5000).wants({ type: "session.tell", text: "Once" }).nothingMore();
    expect(rowOf(rig)).toMatchObject({ enabled: false, schedule_type: "oneshot", trigger_count: 1 });
    const past = asked(once(1)).wants({ type: "schedule.answer" }).nothingMore();
    expect(rowOf(past)).toMatchObject({ enabled: true, trigger_count: 0 });
    expect(nextDeadline(past.state)).toBeUndefined();
  });

  it("is refused where it would fire too often, or never, and takes no place then", () => {
    const often = planned(asked().skip(), 90_000, 60);
    const message =
      "Schedule cron must fire no more than once every 300 seconds (≥ 5 min); expression fires every 60 seconds";
    often.wants({ type: "schedule.answer", answer: { status: "refused", message } }).nothingMore();
    expect(often.state.schedules.rows.size).toBe(0);
    const never = asked().skip();
    const plan = { status: "none", message: "cron expression has no future occurrence" } as const;
    never.tell({ type: "schedule.planned", schedule: "sched_1", after: never.at, plan });
    never.wants({ type: "schedule.answer", answer: { status: "refused", message: plan.message } }).nothingMore();
  });

  it("is one of five, those included that nobody has planned yet", () => {
    const rig = Rig.open([]);
    for (const n of [1, 2, 3, 4, 5])
      rig.tell({ type: "schedule.requested", schedule: { ...hour, id: `sched_${n}` } }).skip();
    rig.refuses({ type: "schedule.requested", schedule: { ...hour, id: "sched_6" } }, "too_many_schedules");
    rig.tell({ type: "schedule.cancelled", schedule: "sched_5" }).skip();
    rig.tell({ type: "schedule.requested", schedule: { ...hour, id: "sched_6" } }).skip();
  });

  it("takes one answer to what it asked, and none that lies before it", () => {
    const rig = asked().skip();
    const next = { status: "next", at: rig.at } as const;
    rig.refuses({ type: "schedule.planned", schedule: "sched_1", after: rig.at, plan: next }, "schedule_unplanned");
    rig.refuses({ type: "schedule.planned", schedule: "sched_1", after: 1, plan: next }, "schedule_unknown");
    planned(rig, rig.at + 1).skip();
    rig.refuses({ type: "schedule.planned", schedule: "sched_1", after: rig.at, plan: next }, "schedule_unknown");
  });

  it("that is cancelled fires no more, and its monitor is over", () => {
    const rig = standing({ monitor }).tell({ type: "schedule.cancelled", schedule: "sched_1" }).skip();
    expect(taskOf(rig)?.task).toMatchObject({ state: "canceled", state_detail: "schedule canceled" });
    expect(nextDeadline(rig.state)).toBeUndefined();
    rig.refuses({ type: "schedule.cancelled", schedule: "sched_1" }, "schedule_ended");
    rig.refuses({ type: "schedule.cancelled", schedule: "sched_7" }, "schedule_unknown");
  });

  it("of a deleted session fires no more", () => {
    const rig = standing().tell({ type: "session.deleted" }).skip();
    expect(nextDeadline(rig.state)).toBeUndefined();
    rig.refuses({ type: "schedule.requested", schedule: { ...hour, id: "sched_2" } }, "session_deleted");
  });
});

const probed = (outcome: ProbeOutcome): Rig => {
  const rig = standing({ monitor }, { probes: true }).tick(5000);
  rig.wants({ type: "schedule.next" });
  rig.wants({ type: "probe.run", schedule: "sched_1", fire: 1, tool: "look", arguments: { n: 1 } }).nothingMore();
  return rig.tell({ type: "probe.answered", schedule: "sched_1", fire: 1, outcome });
};
const said = (rig: Rig): unknown => taskOf(rig)?.messages[0]?.content[0];

describe("a monitor", () => {
  it("has a task that shows it, and hears of each fire", () => {
    const rig = standing({ monitor }).tick(5000).skip();
    expect(taskOf(rig)?.task).toMatchObject({
      kind: "monitor",
      display_name: "Watch",
      state: "running",
      wake_policy: "silent",
      spec: { tool: "look", schedule_id: "sched_1", cron_expression: "0 * * * *", scheduled_at: null },
    });
    const text = `Monitor fired at ${instantText(rig.at)}.`;
    expect(taskOf(rig)?.messages).toMatchObject([{ direction: "outbound", content: [{ type: "text", text }] }]);
  });

  it("that fires once has done its work then", () => {
    const rig = Rig.open([]);
    rig.tell({ type: "schedule.requested", schedule: { ...once(rig.at + 1), monitor } }).skip();
    rig.tick(1).skip();
    expect(taskOf(rig)?.task).toMatchObject({ state: "succeeded", summary: "Scheduled monitor completed" });
  });

  it("stands without a task where the name is taken", () => {
    const rig = Rig.open([]);
    rig.tell({ type: "task.created", task: { id: "task_1", kind: "k", display_name: "n", spec: null } }).skip();
    rig.tell({ type: "schedule.requested", schedule: { ...once(rig.at + 1), monitor } });
    rig.wants({ type: "schedule.answer" }).nothingMore();
    expect(taskOf(rig)?.task.kind).toBe("k");
  });

  it("that is told to end takes its schedule along", () => {
    const rig = standing({ monitor }).tell({ type: "task.cancel_requested", task: "task_1" }).skip();
    expect(taskOf(rig)?.task).toMatchObject({ state: "canceled", summary: "Monitor canceled" });
    expect(rowOf(rig)).toMatchObject({ enabled: false });
  });

  it("is probed where the host can: what comes of it is noted, and nobody is bothered", () => {
    const good = probed({ type: "succeeded", text: "fine" }).wants({ type: "task.observe" }).nothingMore();
    const at = instantText(good.at);
    expect(said(good)).toEqual({ type: "text", text: `Probe \`look\` succeeded at ${at}.\n\nfine` });
    const bad = probed({ type: "failed", message: "down" }).wants({ type: "task.observe" }).nothingMore();
    expect(said(bad)).toEqual({ type: "text", text: `Probe \`look\` failed at ${at}.\n\nError: down` });
  });

  it("is told its next fire while its probe is under way, and still hears what comes of that", () => {
    const rig = standing({ monitor }, { probes: true }).tick(5000).skip();
    const [row] = rig.state.schedules.rows.values();
    const after = row?.asked?.after ?? 0;
    rig.tell({ type: "schedule.planned", schedule: "sched_1", after, plan: { status: "next", at: after + 5000 } });
    rig.tell({ type: "probe.answered", schedule: "sched_1", fire: 1, outcome: { type: "succeeded", text: "fine" } });
    expect(said(rig)).toMatchObject({ text: expect.stringContaining("fine") });
  });

  it("whose probe is skipped fires as it would without", () => {
    const rig = probed({ type: "skipped" })
      .wants({ type: "session.tell" })
      .wants({ type: "task.observe" })
      .nothingMore();
    rig.refuses(
      { type: "probe.answered", schedule: "sched_1", fire: 1, outcome: { type: "skipped" } },
      "schedule_unknown",
    );
  });
});

describe("instants", () => {
  it("are read and written as RFC 3339, in UTC", () => {
    for (const text of [
      "1970-01-01T00:00:00Z",
      "2000-02-29T23:59:59Z",
      "2026-04-16T15:30:00.250Z",
      "9999-12-31T00:00:00Z",
    ]) {
      expect(instantText(instantOf(text) ?? -1)).toBe(text);
      expect(instantOf(text)).toBe(Date.parse(text));
    }
    expect(instantOf("2026-04-16T10:30:00-05:00")).toBe(Date.parse("2026-04-16T15:30:00Z"));
  });
  it("are refused where they are none", () => {
    const wrong = [
      "2026-04-16T15:30:00",
      "2026-02-30T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-04-16",
      "now",
      "2026-04-16T24:00:00Z",
    ];
    expect(wrong.map(instantOf)).toEqual(wrong.map(() => undefined));
  });
});

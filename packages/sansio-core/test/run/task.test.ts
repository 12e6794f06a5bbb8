import { describe, expect, it } from "vitest";
import { countedId } from "../../src/run/model.ts";
import { listMessages } from "../../src/run/task.ts";
import { pretty } from "../../src/run/finish.ts";
import type { NewTask, TaskUpdate } from "../../src/message/task.ts";
import { Rig } from "../rig.ts";

const task: NewTask = { id: "task_1", kind: "subagent", display_name: "N", spec: null };
const made = (more: Partial<NewTask> = {}, options = {}): Rig =>
  Rig.open([], options)
    .tell({ type: "task.created", task: { ...task, ...more } })
    .skip();
const update = (rig: Rig, said: TaskUpdate): Rig => rig.tell({ type: "task.updated", task: "task_1", update: said });
const rowOf = (rig: Rig) => rig.state.background.tasks.get("task_1");
const message = (id: string, direction: "inbound" | "outbound", text: string, reply?: string) =>
  ({
    id,
    task_id: "task_1",
    direction,
    content: [{ type: "text", text }],
    ...(reply === undefined ? {} : { in_reply_to: reply }),
  }) as const;

describe("a task", () => {
  it("is queued, starts, ends, and is made once", () => {
    const rig = made();
    expect(rowOf(rig)?.task).toMatchObject({ state: "queued", attempt: 1, wake_policy: "silent", session_id: "s" });
    rig.refuses({ type: "task.created", task }, "task_exists");
    update(rig.after(10), { state: "running" }).wants({ type: "task.observe", what: "updated" }).nothingMore();
    expect(rowOf(rig)?.task).toMatchObject({ started_at: rig.at });
    update(rig.after(10), { state: "failed", error: { kind: "timeout", message: "too long" } }).skip();
    expect(rowOf(rig)?.task).toMatchObject({ finished_at: rig.at, error: { kind: "timeout" } });
    rig.refuses({ type: "task.updated", task: "task_1", update: { state: "running" } }, "task_ended");
    update(rig, { summary: "late words" }).skip();
    expect(rowOf(rig)?.task.summary).toBe("late words");
  });

  it("drops what an older attempt says", () => {
    const rig = update(made(), { increment_attempt: true }).skip();
    rig.refuses(
      { type: "task.updated", task: "task_1", update: { summary: "x", expected_attempt: 1 } },
      "stale_attempt",
    );
    rig.refuses({ type: "task.updated", task: "task_2", update: {} }, "task_unknown");
  });

  it("that asks for input goes on when its own question is answered", () => {
    const rig = made({ state: "running" });
    update(rig, { input_request: { id: "req_1", prompt: "which?" } }).skip();
    rig.tell({ type: "task.messaged", message: message("m1", "inbound", "no", "req_2") }).skip();
    expect(rowOf(rig)?.task.state).toBe("awaiting_input");
    rig.tell({ type: "task.messaged", message: message("m2", "inbound", "this", "req_1") });
    rig.wants({ type: "task.observe", what: "message_sent" }).nothingMore();
    expect(rowOf(rig)?.task).toMatchObject({ state: "running" });
    expect(rowOf(rig)?.task).not.toHaveProperty("input_request");
    rig.refuses({ type: "task.messaged", message: message("m2", "inbound", "this") }, "already_received");
  });

  it("wakes its session by its policy, and by what was asked for", () => {
    const active = made({ state: "running", wake_policy: "on_activity" });
    update(active, { input_request: { id: "r", prompt: "which?" } }).wants({ type: "task.observe" });
    active.wants({ type: "session.tell", text: 'Task "N" (task_1) is awaiting input: which?' }).nothingMore();
    active.tell({ type: "task.messaged", message: message("m1", "outbound", "half") }).wants({ type: "task.observe" });
    active.wants({ type: "session.tell", text: 'Task "N" (task_1) sent a message: half' }).nothingMore();
    update(active, { state: "succeeded", summary: "s" }).wants({ type: "task.observe" });
    active.wants({ type: "session.tell", text: 'Task "N" (task_1) finished: succeeded.\n- summary: s' }).nothingMore();
    const silent = update(made({ state: "running" }), { state: "succeeded" });
    silent.wants({ type: "task.observe" }).nothingMore();
  });

  it("keeps its newest messages, and lists them oldest first", () => {
    const rig = made();
    for (let n = 0; n < 25; n++) rig.tell({ type: "task.messaged", message: message(`m${n}`, "outbound", "x") }).skip();
    const kept = rowOf(rig)?.messages ?? [];
    expect(kept).toHaveLength(20);
    expect(listMessages(kept, { limit: 2 }).map(({ id }) => id)).toEqual(["m23", "m24"]);
    expect(listMessages(kept, { after: "m22" }).map(({ id }) => id)).toEqual(["m23", "m24"]);
  });

  it("that is over leaves when there are too many of them, the oldest first", () => {
    const rig = Rig.open([], { max_ended_tasks: 1 });
    for (const id of ["task_1", "task_2"]) {
      rig
        .after(1)
        .tell({ type: "task.created", task: { ...task, id, state: "succeeded" } })
        .skip();
    }
    expect(rig.state.background.tasks.keys()).toEqual(["task_2"]);
  });

  it("lives in a session, and in no process", () => {
    const rig = new Rig("process:p");
    rig.tell({ type: "scope.opened", epoch: 1, owner: "d", protocol: 1, options: made().state.scope.options });
    rig.refuses({ type: "task.created", task }, "wrong_scope");
  });
});

describe("names that are counted on", () => {
  it("keep their form, and are others", () => {
    const id = `bg_${"0".repeat(20)}${"f".repeat(12)}`;
    expect(countedId(id, 1)).toBe(`bg_${"0".repeat(32)}`);
    expect(countedId("task", 2)).toBe("task2");
  });
});

describe("JSON for people", () => {
  it("is that of the engine, with sorted keys", () => {
    for (const value of [null, [], {}, [1, [2, {}]], { b: [], a: { c: "x\n" } }]) {
      const sorted = value !== null && "b" in Object(value) ? { a: { c: "x\n" }, b: [] } : value;
      expect(pretty(value)).toBe(JSON.stringify(sorted, null, 2));
    }
  });
});

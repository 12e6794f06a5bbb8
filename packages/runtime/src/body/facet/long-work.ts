/** Long work, as bodies ask for it: background runs, tasks and schedules. Nobody waits for it; each request is a durable step. */
import type {
  EffectResult,
  NewMessage,
  NewSchedule,
  NewTask,
  Schedule,
  ScheduleAnswer,
  SpawnAnswer,
  Task,
  TaskMessage,
  TaskUpdate,
} from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { messageIdOf, runIdOf, scheduleIdOf, taskIdOf } from "../../process/run/request.ts";
import type { MessageFilter, SessionWork, TaskFilter } from "../../process/run/session-work.ts";
import { EffectError, failureOf } from "../../error.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, refusing } from "./durable.ts";
import { capturedEnv, startOf } from "../../process/registration.ts";

/** Names a tool that this session has. */
export interface RunStart {
  readonly tool: string;
  readonly args: Json;
  readonly title?: string;
  readonly signal?: boolean;
}

export type Spawned = SpawnAnswer & { readonly run: string };

/** Leaves the ids to the runtime. */
export type ScheduleStart = Omit<NewSchedule, "id" | "monitor"> & {
  readonly monitor?: Omit<NonNullable<NewSchedule["monitor"]>, "task">;
};

export interface LongWorkFacets {
  readonly background: {
    readonly spawn: (run: RunStart) => Durable<Spawned>;
  };
  readonly tasks: {
    readonly list: (filter?: TaskFilter) => Durable<readonly Task[]>;
    readonly read: (id: string) => Durable<Task | null>;
    readonly create: (task: Omit<NewTask, "id">) => Durable<Task>;
    readonly update: (id: string, update: TaskUpdate) => Durable<Task>;
    readonly messages: (id: string, filter?: MessageFilter) => Durable<readonly TaskMessage[]>;
    readonly message: (message: Omit<NewMessage, "id">) => Durable<string>;
    readonly cancel: (id: string) => Durable<Task>;
    /** Resolves to the task once it rests, or once so much time has passed. */
    readonly wait: (id: string, ms: number) => Durable<Task>;
  };
  readonly schedules: {
    readonly create: (schedule: ScheduleStart) => Durable<ScheduleAnswer>;
    readonly list: () => Durable<readonly Schedule[]>;
    readonly cancel: (id: string) => Durable<null>;
  };
}

const failure = (thrown: unknown): EffectResult => failureOf(thrown, "long_work_failed");

export const longWorkFacets = (asking: Asking): LongWorkFacets => {
  const { body, facts } = asking;
  const { processApi } = facts;

  const hashOf = (key: string): string => asking.hashOfName(key, body.id.attempt);

  const own = <A>(key: string, input: unknown, act: (work: SessionWork) => Promise<A>): Durable<A> =>
    refusing(key, () => {
      const json = toJson(input, key);
      const perform = (): Promise<EffectResult> =>
        act(processApi.work).then((value): EffectResult => ({ status: "ok", value: toJson(value, key) }), failure);
      return asking.askFor(valueOf, key, { kind: "step", recovery: "again", input: json }, json, perform) as never;
    });

  const named = (name: string): LiveTool => {
    const tool = processApi.toolNamed(name);
    if (tool === undefined) throw new EffectError("tool_unknown", `Unknown tool: ${name}`);
    return tool;
  };

  const spawn = ({ tool, ...said }: RunStart): Durable<Spawned> => {
    const key = asking.nextName("background:spawn");
    const [run, task] = [runIdOf(body.now, hashOf(`run:${key}`)), taskIdOf(hashOf(`task:${key}`))];
    return own(key, { tool, ...said }, async (session) => {
      const { provenance } = startOf(processApi.state(), facts.callId);
      const made = { run, task, tool: named(tool), provenance, envRef: capturedEnv(processApi) };
      return { run, ...(await session.spawn({ ...said, ...made })) };
    });
  };

  const schedule = ({ monitor, ...said }: ScheduleStart): Durable<ScheduleAnswer> => {
    const key = asking.nextName("schedules:create");
    const task = taskIdOf(asking.hashOfName(`task:${key}`)); // Each attempt asks with the same input.
    const made = {
      ...said,
      id: scheduleIdOf(asking.hashOfName(key)),
      ...(monitor && { monitor: { ...monitor, task } }),
    };
    return own(key, made, (session) => session.schedule(made));
  };

  return {
    background: { spawn: (run) => refusing("background:spawn", () => spawn(run)) },
    tasks: {
      list: (filter = {}) => own(asking.nextName("tasks:list"), filter, (session) => session.tasks(filter)),
      read: (id) => own(asking.nextName("tasks:read"), id, async (session) => (await session.task(id)) ?? null),
      create: (task) => {
        const key = asking.nextName("tasks:create");
        return own(key, task, (session) => session.create({ ...task, id: taskIdOf(hashOf(key)) }));
      },
      update: (id, update) =>
        own(asking.nextName("tasks:update"), [id, update], (session) => session.update(id, update)),
      messages: (id, filter = {}) =>
        own(asking.nextName("tasks:messages"), [id, filter], (session) => session.messages(id, filter)),
      message: (message) => {
        const key = asking.nextName("tasks:message");
        const id = messageIdOf(hashOf(key));
        return own(key, message, async (session) => session.message({ ...message, id }).then(() => id));
      },
      cancel: (id) => own(asking.nextName("tasks:cancel"), id, (session) => session.cancel(id)),
      wait: (id, ms) => {
        const until = body.now + ms;
        return own(asking.nextName("tasks:wait"), [id, until], (session) =>
          session.rested(id, until, body.signals.work),
        );
      },
    },
    schedules: {
      create: (said) => refusing("schedules:create", () => schedule(said)),
      list: () => own(asking.nextName("schedules:list"), null, (session) => session.schedules()),
      cancel: (id) =>
        own(asking.nextName("schedules:cancel"), id, async (session) => session.cancelSchedule(id).then(() => null)),
    },
  };
};

/** Names of the protocol that its library does not have: the tasks extension, and ours in `_meta`. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** The key in `_meta` under which a client names a call, so that a repetition joins it. */
export const idempotencyKey = "io.pawl/idempotencyKey";

/** Says that a call which is repeated under its key joins the first one. */
export const idempotencyExtension = "io.pawl/idempotency";

/** The methods of the tasks extension. */
export const taskMethods = ["tasks/get", "tasks/update", "tasks/cancel"] as const;
export type TaskMethod = (typeof taskMethods)[number];

export const isTaskMethod = (method: string): method is TaskMethod =>
  (taskMethods as readonly string[]).includes(method);

/** The worker thread of a journal: serves requests one after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { Connection, type FileOptions } from "../sqlite/connection.ts";
import { type InlineJournal, inlineJournal } from "../sqlite/inline.ts";
import { endThread } from "../sqlite/worker-thread.ts";
import { type ThreadAnswer, type Methods, type ThreadRequest, serializeError } from "./thread.ts";

export interface ThreadData {
  readonly file: string;
  readonly options: Omit<FileOptions, "now">;
}

const { file, options } = workerData as ThreadData;

let now = 0;
let journal: (Methods & Pick<InlineJournal, "close">) | undefined;

const opened = (): Methods & Pick<InlineJournal, "close"> => {
  const at = new Connection(file, { ...options, integrity: "skip", now: () => now });
  const { moves, queues, ...rest } = inlineJournal(at);
  const { advance: advanceQueues, leave: leaveQueues, standing } = queues;
  return { ...rest, ...moves, advanceQueues, leaveQueues, standing };
};

const perform = async (request: ThreadRequest): Promise<unknown> => {
  if (request.type === "close") return journal?.close();
  now = request.now;
  journal ??= opened();
  const method = journal[request.method] as (...args: readonly unknown[]) => Promise<unknown>;
  return method(...(request.args as readonly unknown[]));
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const post = (answer: ThreadAnswer): void => parentPort?.postMessage(answer);

parentPort?.on("message", (request: ThreadRequest) => {
  const { id } = request;
  void perform(request)
    .then(
      (value) => post({ type: "done", id, value }),
      (thrown: unknown) => post({ type: "thrown", id, error: serializeError(thrown) }),
    )
    .finally(() => request.type === "close" && endThread(parentPort));
});

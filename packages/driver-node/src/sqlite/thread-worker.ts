/** The thread of a journal file: the same journal, asked by messages, one after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { Connection, type FileOptions } from "./connection.ts";
import { type InlineJournal, inlineJournal } from "./inline.ts";
import { type Answer, type Methods, type Question, wrongOf } from "./thread-message.ts";

export interface ThreadData {
  readonly file: string;
  readonly options: Omit<FileOptions, "now">;
}

const { file, options } = workerData as ThreadData;

let now = 0;
let journal: (Methods & Pick<InlineJournal, "close">) | undefined;

const opened = (): Methods & Pick<InlineJournal, "close"> => {
  const at = new Connection(file, { ...options, integrity: "skip", now: () => now });
  const { moves, ...rest } = inlineJournal(at);
  return { ...rest, ...moves };
};

const answer = async (question: Question): Promise<unknown> => {
  if (question.type === "close") return journal?.close();
  now = question.now;
  journal ??= opened();
  const method = journal[question.method] as (...args: readonly unknown[]) => Promise<unknown>;
  return method(...(question.args as readonly unknown[]));
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const say = (said: Answer): void => parentPort?.postMessage(said);

parentPort?.on("message", (question: Question) => {
  const { id } = question;
  void answer(question)
    .then(
      (value) => say({ type: "done", id, value }),
      (thrown: unknown) => say({ type: "thrown", id, wrong: wrongOf(thrown) }),
    )
    .finally(() => question.type === "close" && parentPort?.close());
});

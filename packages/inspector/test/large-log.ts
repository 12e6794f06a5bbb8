/** Sessions with large values, and their logs: as the journal has them, and as an export. */
import { type Journal, Runtime, defineTool, logText, memoryJournal } from "@pawl/runtime";
import { currentProtocol, headerLine } from "@pawl/sansio-core";
import { nodePlatform } from "../../driver-node/src/platform.ts";

export const scope = "session:large";
const longText = (letter: string): string => letter.repeat(70_000);

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const roots = { newest: { kid: "k", secret: new Uint8Array(32).fill(7) } };

export const runtimeOver = (journal: Journal): Runtime =>
  new Runtime({ journal, platform: nodePlatform, tools: [echo], instance: "node", roots });

/** Makes two calls with a large value each and one without; resolves once everything is recorded. */
export const workOn = async (runtime: Runtime): Promise<void> => {
  const session = await runtime.session("large");
  for (const [i, text] of [longText("a"), "small", longText("b")].entries())
    await session.request(`r${i}`, [{ label: "c", tool: "echo", args: { text } }]);
  for await (const { event } of session.follow(0, new AbortController().signal))
    if (event.type === "reply.acked" && event.request === "r2") return;
};

export interface LargeLog {
  readonly journal: Journal;
  /** The log in the journal. */
  readonly bare: string;
  /** The exported log, with its large values. */
  readonly packed: string;
}

export const logOf = async (journal: Journal): Promise<LargeLog> => {
  const header = headerLine({ format: 1, protocol: currentProtocol, scope, epoch: 1, writer: "pawl", base: 0 });
  const lines = (await journal.read(scope, 1)).map(({ line }) => line);
  const packed = ((await logText(journal, scope)) ?? []).join("");
  return { journal, bare: [header, ...lines].join(""), packed };
};

export const largeLog = async (): Promise<LargeLog> => {
  const journal = memoryJournal();
  const runtime = runtimeOver(journal);
  await workOn(runtime);
  await runtime.close();
  return logOf(journal);
};

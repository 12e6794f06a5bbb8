/** Runs in the browser: a page whose tools run in a worker. */
import { type Runtime, type Session, defineTool } from "@pawl/runtime";
import { type AttachedWorker, attachWorker, openTab } from "../../src/index.ts";

const notHere = (): never => {
  throw new Error("it runs in a worker");
};
const inWorker = (name: string, durable: boolean) => defineTool({ name, clientSide: true, durable, execute: notHere });
const names = ["echo", "refuse", "fail", "until_cancelled", "stuck"];

let runtime: Runtime;
let session: Session;
let attached: AttachedWorker;
let code = "";

export const open = async (script: string): Promise<void> => {
  code = script;
  const tools = [...names.map((name) => inWorker(name, true)), inWorker("stuck_bound", false)];
  runtime = await (await openTab({ name: "worker", tools })).runtime();
  session = await runtime.session("s");
};

/** A worker of its own code begins to run tools. */
export const attach = async (): Promise<readonly string[]> => {
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  attached = await attachWorker(runtime, worker);
  return attached.tools;
};

/** Returns what is said of a worker of this address. */
export const refusalOf = (address: string): Promise<string> =>
  attachWorker(runtime, new Worker(address)).then(() => "attached", String);

export const kill = async (): Promise<void> => {
  attached.end();
  await attached.ended;
};

export const call = async (request: string, tool: string): Promise<unknown> => {
  const [reply] = await session.request(request, [{ label: "c", tool, args: { n: 2n ** 64n } as never }]);
  return JSON.stringify(reply?.output.outcome, (_, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
};

/** Says whether it is on record that the worker runs it. */
export const isWithWorker = (request: string): boolean => {
  const row = session.state.calls.at(`${request}:c`);
  return row?.phase === "running" && row.owner.startsWith("executor:");
};
export const cancel = (request: string): Promise<void> => session.cancel({ call: `${request}:c` });

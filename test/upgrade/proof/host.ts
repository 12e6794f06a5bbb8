/** One host of a proof, as its own process: a runtime over a journal file, with the tools of one program in one version. */
import { setTimeout as wait } from "node:timers/promises";
import { flushCompileCache } from "node:module";
import { Agent, request } from "node:http";
import { type OpenOptions, openRuntime } from "@pawl/driver-node";
import { type Program, programs } from "./programs.ts";
import type { Told } from "./service.ts";

/** What a host is told when it starts. */
export interface Order {
  readonly program: keyof typeof programs;
  readonly version: string;
  readonly file: string;
  readonly url: string;
  readonly who: readonly string[];
  readonly options: Partial<OpenOptions>;
}

/** A word to a host that runs. `close` ends it as a deployment does. */
export type Word = { readonly type: "close" } | { readonly type: "act"; readonly who: readonly string[] };

const agent = new Agent({ keepAlive: true });

const tell = (url: string, told: Told): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent }, (response) => {
      response.resume().on("end", () => resolve());
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(told));
  });

const live = async ({ program: name, version, file, url, who, options }: Order): Promise<void> => {
  const program: Program = programs[name];
  const outside = {
    charge: (payer: string, key: string) => tell(url, { type: "charge", who: payer, key }),
    note: (of: string, text: string) => tell(url, { type: "note", who: of, text }),
    wait: (ms: number) => wait(ms),
  };
  const { runtime, close } = openRuntime({ file, tools: program.tools(outside, version), log: () => undefined, ...options });
  const replied = (of: string, outcome: unknown): Promise<void> => tell(url, { type: "reply", who: of, outcome });
  process.on("message", (word: Word) => {
    if (word.type === "act") void program.act?.(runtime, word.who).then(() => process.send?.("acted"));
    else void close().then(() => process.exit(0));
  });
  void program.serve(runtime, who, replied).catch((thrown: unknown) => {
    if (process.connected) console.error(name, thrown);
  });
  process.send?.("up");
};

flushCompileCache();
process.on("disconnect", () => process.exit(1)); // Nobody is left to kill it.
process.once("message", (order: Order) => void live(order));
process.send?.("loaded");

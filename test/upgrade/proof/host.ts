/** One host of a proof, as its own process: a runtime over a journal file, with the tools of one program in one version. */
import { setTimeout as wait } from "node:timers/promises";
import { flushCompileCache } from "node:module";
import { Agent, request } from "node:http";
import { type OpenOptions, openRuntime } from "@pawl/driver-node";
import type { Log, Runtime } from "@pawl/runtime";
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

/** A word to a host that runs. `close` ends it as a deployment does; `look` counts the calls of sessions by phase. */
export type Word =
  | { readonly type: "close" }
  | { readonly type: "look" }
  | { readonly type: "act"; readonly what: "approve" | "answer"; readonly tokens: { readonly [who: string]: string } };

/** What a host says of its sessions: how many have a call in a phase, and how many are of a protocol. */
export interface Looked {
  readonly type: "looked";
  readonly phases: { readonly [phase: string]: number };
  readonly protocols: { readonly [protocol: number]: number };
}

const look = async (runtime: Runtime, who: readonly string[]): Promise<Looked> => {
  const phases: { [phase: string]: number } = {};
  const protocols: { [protocol: number]: number } = {};
  for (const one of who) {
    const { state } = await runtime.session(one);
    const { protocol } = state.scope;
    protocols[protocol] = (protocols[protocol] ?? 0) + 1;
    const found = new Set(state.calls.rows().map(({ phase }) => phase));
    for (const phase of found.size === 0 ? ["none"] : found) phases[phase] = (phases[phase] ?? 0) + 1;
  }
  return { type: "looked", phases, protocols };
};

const agent = new Agent({ keepAlive: true });

const tell = (url: string, told: Told): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent }, (response) => {
      response.resume().on("end", () => resolve());
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(told));
  });

const live = async ({ program: chosen, version, file, url, who, options }: Order): Promise<void> => {
  const program: Program = programs[chosen];
  const outside = {
    charge: (payer: string, key: string) => tell(url, { type: "charge", who: payer, key }),
    note: (of: string, text: string) => tell(url, { type: "note", who: of, text }),
    pause: (ms: number) => wait(ms),
  };
  const log: Log = ({ name, fields }) => {
    if (name === "call.crashed") void outside.note("log", String(fields["message"]));
  };
  const { runtime, close } = openRuntime({ file, tools: program.tools(outside, version), log, ...options });
  const replied = (of: string, outcome: unknown): Promise<void> => tell(url, { type: "reply", who: of, outcome });
  let isClosing = false;
  const obey = async (word: Word): Promise<void> => {
    if (word.type === "look") return void process.send?.(await look(runtime, who));
    if (word.type === "act") {
      await program.act?.(runtime, word.what, word.tokens);
      return void process.send?.("acted");
    }
    isClosing = true;
    await close();
    process.exit(0);
  };
  process.on("message", (word: Word) => void obey(word));
  void program.serve(runtime, who, replied).catch((thrown: unknown) => {
    if (!isClosing && process.connected) console.error(chosen, thrown);
  });
  process.send?.("up");
};

flushCompileCache();
process.on("disconnect", () => process.exit(1)); // Nobody is left to kill it.
process.once("message", (order: Order) => void live(order));
process.send?.("loaded");

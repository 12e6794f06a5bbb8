/** The worker that runs the agent of a scene. It can be killed at any moment, and the next one continues. */
import { type OpenTab, openTab } from "@pawl/driver-browser";
import type { Session } from "@pawl/runtime";
import { eventLine } from "@pawl/sansio-core";
import { askModel, runAgent } from "../agent/agent.ts";
import { endpointModel } from "../agent/endpoint.ts";
import { scriptedModel } from "../agent/script.ts";
import { type FromEngine, type ToEngine, type Verb, messageOf } from "./message.ts";
import { type Kit, kitOf } from "./tool.ts";
import { World } from "./world.ts";

type Opening = Extract<ToEngine, { readonly type: "open" }>;

const port = globalThis as unknown as Worker;
const send = (message: FromEngine): void => port.postMessage(message, []);
const by = "you";

const perform = (session: Session, kit: Kit, verb: Verb): Promise<unknown> => {
  switch (verb.type) {
    case "agent":
      return runAgent(session, kit.script.task);
    case "approve": {
      const { call, hash, args } = verb;
      return session.approve(call, { hash, by, ...(args !== undefined && { args }) });
    }
    case "reject": {
      const { call, hash, reason } = verb;
      return session.reject(call, { hash, by, reason });
    }
    case "call":
      return session.request(verb.request, [{ label: "call", tool: verb.tool, args: verb.args }]);
    case "cancel":
      return session.cancel({ request: verb.request }, by);
  }
};

class Engine {
  readonly #tab: OpenTab;
  readonly #kit: Kit;
  readonly #session: Promise<Session>;

  constructor(tab: OpenTab, kit: Kit, session: string) {
    this.#tab = tab;
    this.#kit = kit;
    this.#session = tab.runtime().then((runtime) => runtime.session(session));
    void this.#session.then(() => send({ type: "writing" })).catch((thrown: unknown) => fault(thrown));
  }

  async follow(scope: string, after: number): Promise<void> {
    for await (const recorded of this.#tab.follow(scope, after, new AbortController().signal))
      send({ type: "lines", lines: [{ seq: recorded.seq, line: eventLine(recorded) }] });
  }

  async ask(id: number, verb: Verb): Promise<void> {
    try {
      const value = await perform(await this.#session, this.#kit, verb);
      send({ type: "answer", id, value: typeof value === "string" ? value : null });
    } catch (thrown) {
      send({ type: "failed", id, message: messageOf(thrown) });
    }
  }
}

const fault = (thrown: unknown): void => send({ type: "fault", message: messageOf(thrown) });

const open = async ({ scene, session, after, worker, endpoint }: Opening): Promise<Engine> => {
  const kit = kitOf(scene, { world: new World(scene), worker });
  const model = endpoint === undefined ? scriptedModel(kit.script) : endpointModel(endpoint);
  const tab = await openTab({
    name: `pawl-demo-${scene}`,
    tools: [askModel(model, kit.specs), ...kit.tools],
    host: { fault: (what, thrown) => fault(`${what}: ${String(thrown)}`) },
  });
  const engine = new Engine(tab, kit, session);
  void engine.follow(`session:${session}`, after).catch(fault);
  return engine;
};

let engine: Promise<Engine> | undefined;

port.addEventListener("message", ({ data }: MessageEvent<ToEngine>) => {
  if (data.type === "open") {
    engine = open(data);
    engine.catch(fault);
  } else void engine?.then((opened) => opened.ask(data.id, data.verb));
});

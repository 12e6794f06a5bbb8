/** The worker that runs the agent of a scene. It can be killed at any moment, and the next one continues. */
import { type OpenTab, openTab } from "@pawl/driver-browser";
import type { HostPort, Session, ToolDefinition } from "@pawl/runtime";
import { eventLine } from "@pawl/sansio-core";
import { askModel, runAgent } from "../agent/agent.ts";
import { endpointModel } from "../agent/endpoint.ts";
import { scriptedModel } from "../agent/script.ts";
import { beginTurn, decideBudget, turnHost } from "../turn/play.ts";
import { teamDayTools } from "../turn/team-day.ts";
import { type FromEngine, type ToEngine, type Verb, messageOf } from "./message.ts";
import { kitOf } from "./tool.ts";
import { World } from "./world.ts";

type Opening = Extract<ToEngine, { readonly type: "open" }>;

const port = globalThis as unknown as Worker;
const send = (message: FromEngine): void => port.postMessage(message, []);
const by = "you";

/** Words are on record this much later at most: a kill in mid-word leaves something to go on from. */
const checkpointMs = 400;

/** The part that differs from scene to scene. */
interface Play {
  readonly tools: readonly ToolDefinition[];
  readonly host: HostPort;
  /** Starts the agent, or continues it. */
  readonly begin: (session: Session) => Promise<unknown>;
}

/** The core runs the loop of the agent. */
const turnPlay = ({ worker, endpoint }: Opening): Play => ({
  tools: teamDayTools({ world: new World("turn"), worker }),
  host: {
    ...turnHost(endpoint),
    observeTurn: (_, command) => {
      if (command.what === "model_asked") void engine?.then((opened) => opened.listen(command.request)).catch(fault);
    },
  },
  begin: beginTurn,
});

/** The page runs the loop of the agent, over a tool that asks the model. */
const agentPlay = (scene: Exclude<Opening["scene"], "turn">, { worker, endpoint }: Opening): Play => {
  const kit = kitOf(scene, { world: new World(scene), worker });
  const model = endpoint === undefined ? scriptedModel(kit.script) : endpointModel(endpoint);
  return {
    tools: [askModel(model, kit.specs), ...kit.tools],
    host: {},
    begin: (session) => runAgent(session, kit.script.task),
  };
};

const perform = (session: Session, play: Play, verb: Verb): Promise<unknown> => {
  switch (verb.type) {
    case "agent":
      return play.begin(session);
    case "budget":
      return decideBudget(session, verb.ask, verb.more, by);
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
  readonly #play: Play;
  readonly #session: Promise<Session>;
  /** The turn that is read along. */
  #heard: string | undefined;

  constructor(tab: OpenTab, play: Play, session: string) {
    this.#tab = tab;
    this.#play = play;
    this.#session = tab.runtime().then((runtime) => runtime.session(session));
    void this.#session.then(() => send({ type: "writing" })).catch((thrown: unknown) => fault(thrown));
  }

  async follow(scope: string, after: number): Promise<void> {
    for await (const recorded of this.#tab.follow(scope, after, new AbortController().signal))
      send({ type: "lines", lines: [{ seq: recorded.seq, line: eventLine(recorded) }] });
  }

  /** Passes on what the model says, before it is on record. */
  async listen(request: string): Promise<void> {
    if (this.#heard === request) return;
    this.#heard = request;
    for await (const frame of (await this.#session).readTurn(request)) send({ type: "said", frame });
  }

  async ask(id: number, verb: Verb): Promise<void> {
    try {
      const value = await perform(await this.#session, this.#play, verb);
      send({ type: "answer", id, value: typeof value === "string" ? value : null });
    } catch (thrown) {
      send({ type: "failed", id, message: messageOf(thrown) });
    }
  }
}

const fault = (thrown: unknown): void => send({ type: "fault", message: messageOf(thrown) });

const open = async (opening: Opening): Promise<Engine> => {
  const { scene, session, after } = opening;
  const play = scene === "turn" ? turnPlay(opening) : agentPlay(scene, opening);
  const tab = await openTab({
    name: `pawl-demo-${scene}`,
    tools: play.tools,
    turns: { checkpointMs },
    host: { ...play.host, fault: (what, thrown) => fault(`${what}: ${String(thrown)}`) },
  });
  const opened = new Engine(tab, play, session);
  void opened.follow(`session:${session}`, after).catch(fault);
  return opened;
};

let engine: Promise<Engine> | undefined;

port.addEventListener("message", ({ data }: MessageEvent<ToEngine>) => {
  if (data.type === "open") {
    engine = open(data);
    engine.catch(fault);
  } else void engine?.then((opened) => opened.ask(data.id, data.verb));
});

/** The common part of scenes with an agent: an engine in a worker, its story, and the inspector on its log. */
import { engineOf } from "@pawl/inspector";
import { browserPlatform } from "@pawl/driver-browser";
import { askModel } from "../agent/agent.ts";
import { scriptedModel } from "../agent/script.ts";
import { forkPlay } from "../turn/play.ts";
import { type SceneId, kitOf } from "../engine/tool.ts";
import { World } from "../engine/world.ts";
import InspectorWorker from "@pawl/inspector/worker?worker";
import { EngineClient, type EngineEvents } from "./engine-client.ts";
import { endpoint, sessionOf } from "./memory.ts";
import type { Stage } from "./scene.ts";
import { Story } from "./story.ts";

export interface EngineScene {
  readonly engine: EngineClient;
  readonly story: Story;
  /** Starts the agent, or continues it. */
  readonly run: () => void;
  readonly isStarted: () => boolean;
  readonly end: () => void;
}

export interface EngineSceneOptions {
  readonly draw: () => void;
  readonly worker?: EngineEvents["worker"];
}

/** Creates the engine for forks: the same tools, with a separate outside world. */
export const forkEngine = (scene: SceneId): ReturnType<typeof engineOf> => {
  const platform = browserPlatform;
  if (scene === "turn") return engineOf({ ...forkPlay(), platform });
  const kit = kitOf(scene, { world: new World(`${scene}-fork`), worker: "fork" });
  return engineOf({ tools: [askModel(scriptedModel(kit.script), kit.specs), ...kit.tools], platform });
};

export const beginEngine = (scene: SceneId, stage: Stage, { draw, worker }: EngineSceneOptions): EngineScene => {
  const session = sessionOf(scene);
  const story = new Story(session);
  let isStarted = false;
  const run = (): void => {
    if (isStarted) return;
    isStarted = true;
    engine.ask({ type: "agent" }).catch((thrown: unknown) => {
      if (engine.isOpen) stage.fault(String(thrown));
    });
    draw();
  };
  const engine = new EngineClient(
    { scene, session, endpoint: endpoint() },
    {
      line: (line) => {
        story.take(line);
        if (story.isBegun) run(); // After a reload the agent continues.
        draw();
      },
      worker: (n, does) => {
        stage.writes(does !== "begins");
        worker?.(n, does);
        draw();
      },
      said: (frame) => {
        story.turn.hear(frame);
        draw();
      },
      fault: stage.fault,
    },
  );
  stage.inspector.configure({ worker: () => new InspectorWorker(), engine: forkEngine(scene) });
  void stage.inspector.open(engine.source());
  engine.start();
  return { engine, story, run, isStarted: () => isStarted, end: () => engine.close() };
};

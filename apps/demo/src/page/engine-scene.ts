/** What scenes with an agent have in common: an engine in a worker, its story, and the inspector on its log. */
import { engineOf } from "@pawl/inspector";
import { browserPlatform } from "@pawl/driver-browser";
import { askModel } from "../agent/agent.ts";
import { scriptedModel } from "../agent/script.ts";
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
  /** Has the agent begin, or go on. */
  readonly run: () => void;
  readonly isAsked: () => boolean;
  readonly end: () => void;
}

export interface EngineSceneOptions {
  readonly draw: () => void;
  readonly worker?: EngineEvents["worker"];
}

/** Forks of the scene run on with tools of the same kind, in a world of their own. */
const forkEngine = (scene: SceneId): ReturnType<typeof engineOf> => {
  const kit = kitOf(scene, { world: new World(`${scene}-fork`), worker: "fork" });
  return engineOf({ tools: [askModel(scriptedModel(kit.script), kit.specs), ...kit.tools], platform: browserPlatform });
};

export const beginEngine = (scene: SceneId, stage: Stage, { draw, worker }: EngineSceneOptions): EngineScene => {
  const session = sessionOf(scene);
  const story = new Story(session);
  let isAsked = false;
  const run = (): void => {
    if (isAsked) return;
    isAsked = true;
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
        if (story.calls.length > 0) run(); // A reload finds its agent at work.
        draw();
      },
      worker: (n, does) => {
        stage.writes(does !== "begins");
        worker?.(n, does);
        draw();
      },
      fault: stage.fault,
    },
  );
  stage.inspector.configure({ worker: () => new InspectorWorker(), engine: forkEngine(scene) });
  void stage.inspector.open(engine.source());
  engine.start();
  return { engine, story, run, isAsked: () => isAsked, end: () => engine.close() };
};

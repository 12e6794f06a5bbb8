/**
 * Vercel Workflow in its local world, which its documentation recommends for development. Its handlers are called in
 * this process.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Sizes, type System, pause } from "./system.ts";
import { versionOf } from "./version.ts";

const place = join(import.meta.dirname, "../vercel");
const built = join(place, ".well-known/workflow");
const compiler = join(import.meta.dirname, "../node_modules/workflow/bin/run.js");

/** With the usual sizes a repetition takes an hour. */
const sizes: Partial<Sizes> = { sequence: 10, crowd: 40, long: 100, single: 40, recorded: 50, warm: 10, parked: 50 };

const build = (): void => {
  execFileSync(process.execPath, [compiler, "build"], { cwd: place, stdio: "ignore" });
  writeFileSync(join(built, "package.json"), '{ "type": "commonjs" }');
};

interface Manifest {
  readonly workflows: { readonly [file: string]: { readonly [name: string]: { readonly workflowId: string } } };
}
const idOf = (name: string): string => {
  const { workflows } = JSON.parse(readFileSync(join(built, "v1/manifest.json"), "utf8")) as Manifest;
  const found = Object.values(workflows).find((file) => file[name] !== undefined)?.[name]?.workflowId;
  if (found === undefined) throw new Error(`the manifest names no workflow ${name}`);
  return found;
};

type Handler = (request: Request) => Promise<Response>;
const handlerOf = async (name: string): Promise<Handler> => {
  const module = (await import(pathToFileURL(join(built, `v1/${name}.js`)).href)) as {
    readonly POST?: Handler;
    readonly default?: { readonly POST?: Handler };
  };
  const handler = module.POST ?? module.default?.POST;
  if (handler === undefined) throw new Error(`${name} has no handler`);
  return handler;
};

interface World {
  readonly start?: () => Promise<void>;
  readonly registerHandler: (prefix: string, handler: Handler) => void;
  readonly events: {
    create: (run: string | null, event: { readonly eventType?: string }, ...more: unknown[]) => Promise<unknown>;
  };
}
interface Workflow {
  readonly start: (
    program: { readonly workflowId: string },
    args: readonly unknown[],
  ) => Promise<{ readonly runId: string }>;
  readonly resumeHook: (token: string, payload: unknown) => Promise<unknown>;
  readonly getWorld: () => World | Promise<World>;
}

/** Resolves runs when the journal hears of their end: `returnValue` polls only once a second. */
class Ends {
  readonly #ends = new Map<string, PromiseWithResolvers<string>>();

  #of(run: string): PromiseWithResolvers<string> {
    const end = this.#ends.get(run) ?? Promise.withResolvers<string>();
    this.#ends.set(run, end);
    return end;
  }

  watch({ events }: World): void {
    const create = events.create.bind(events);
    events.create = async (run, event, ...more) => {
      const created = await create(run, event, ...more);
      const { eventType = "" } = event;
      if (run !== null && (eventType === "run_completed" || eventType === "run_failed"))
        this.#of(run).resolve(eventType);
      return created;
    };
  }

  async of(run: string): Promise<void> {
    const how = await this.#of(run).promise;
    this.#ends.delete(run);
    if (how !== "run_completed") throw new Error(`run ${run}: ${how}`);
  }
}

const isUnknown = (thrown: unknown): boolean =>
  /not found|NotFound/i.test(`${String(thrown)} ${(thrown as Error).name}`);

export const vercel = async (folder: string): Promise<System> => {
  build();
  process.env["WORKFLOW_LOCAL_DATA_DIR"] = join(folder, "world");
  process.env["WORKFLOW_TARGET_WORLD"] = "local";
  process.env["WORKFLOW_LOCAL_BASE_URL"] = "http://127.0.0.1:1";
  process.env["WORKFLOW_NO_UPDATE_CHECK"] = "1";
  const { start, resumeHook, getWorld } = {
    ...(await import("workflow/api")),
    ...(await import("workflow/runtime")),
  } as unknown as Workflow;
  const world = await getWorld();
  await world.start?.();
  world.registerHandler("__wkf_workflow_", await handlerOf("flow"));
  world.registerHandler("__wkf_step_", await handlerOf("step"));
  const ends = new Ends();
  ends.watch(world);
  const [work, parks] = [{ workflowId: idOf("work") }, { workflowId: idOf("parks") }];
  let parked = 0;

  const hooks = (): number => {
    const at = join(folder, "world/hooks");
    return existsSync(at) ? readdirSync(at).filter((name) => name.endsWith(".json")).length : 0;
  };

  /** The hook exists once its run has reached it. */
  const resumed = async (token: string): Promise<number> => {
    for (;;) {
      const begun = performance.now();
      try {
        await resumeHook(token, { go: true });
        return begun;
      } catch (thrown) {
        if (!isUnknown(thrown)) throw thrown;
        await pause(20);
      }
    }
  };

  return {
    version: versionOf("workflow"),
    durability: "files that are written and renamed, none of them synced",
    sizes,
    run: async (steps) => ends.of((await start(work, [steps])).runId),
    resume: async (steps) => {
      const token = `parked-${(parked += 1)}`;
      const { runId } = await start(parks, [steps, token]);
      const begun = await resumed(token);
      await ends.of(runId);
      return performance.now() - begun;
    },
    park: async (count) => {
      const wanted = hooks() + count;
      let left = count;
      const lane = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await start(parks, [1, `parked-${(parked += 1)}`]);
        }
      };
      await Promise.all(Array.from({ length: 16 }, lane));
      while (hooks() < wanted) await pause(100);
    },
    close: async () => undefined,
  };
};

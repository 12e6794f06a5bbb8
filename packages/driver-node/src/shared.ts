/**
 * One runtime per journal file and process (a multiton), for programs whose modules are loaded again and again: a
 * development server evaluates a module anew after each edit, and the runtime of the module before it still owns the sessions.
 * A second caller that asks for the file gets the same runtime, which takes the new tools.
 *
 * Opening is lazy: a build evaluates modules as well, and must not open a journal. So a program is given a stand-in, which
 * opens the runtime when it is used first.
 */
import { resolve } from "node:path";
import process from "node:process";
import { Registry, Runtime, type ToolDefinition } from "@pawl/runtime";
import { replaceTools } from "@pawl/runtime/driver";
import { inMemory } from "./journal/path.ts";
import type { OpenOptions, OpenRuntime } from "./open.ts";

/** The runtime of a file, with the tools that the module loaded last has. */
interface Shared {
  readonly tools: Registry;
  opened?: OpenRuntime;
}

type Holder = typeof process & { [places]?: Map<string, Shared> };

/** Found by its name: the module of pawl itself may be loaded twice. */
const places = Symbol.for("@pawl/driver-node runtimes");

const runtimes = (): Map<string, Shared> => ((process as Holder)[places] ??= new Map<string, Shared>());

const definitionsOf = (tools: OpenOptions["tools"]): readonly ToolDefinition[] =>
  tools instanceof Registry ? tools.definitions() : new Registry(tools).definitions();

/** Makes a runtime that is opened when it is used first. */
const standIn = (opened: () => Runtime): Runtime =>
  new Proxy<Runtime>(Object.create(Runtime.prototype) as Runtime, {
    get(_, name) {
      const runtime = opened();
      const found: unknown = Reflect.get(runtime, name, runtime);
      return typeof found === "function" ? (found as (...of: unknown[]) => unknown).bind(runtime) : found;
    },
  });

/** Names the journal: two runtimes of one process over the same one are the same. */
const placeOf = ({ file, postgres }: OpenOptions): string => {
  if (file === undefined) return `postgres ${JSON.stringify(postgres)}`;
  return file === inMemory ? inMemory : resolve(file);
};

/** Opens the runtime of a file once in this process. Of the options of later calls only the tools are taken. */
export const sharedRuntime = (options: OpenOptions, open: (options: OpenOptions) => OpenRuntime): OpenRuntime => {
  const place = placeOf(options);
  const tools = definitionsOf(options.tools);
  const known = runtimes().get(place);
  const shared: Shared = known ?? { tools: new Registry(tools) };
  if (known === undefined) runtimes().set(place, shared);
  else replaceTools(known.tools, tools);
  const opened = (): OpenRuntime => (shared.opened ??= open({ ...options, tools: shared.tools }));
  const close = async (): Promise<void> => {
    const { opened: closing } = shared;
    delete shared.opened;
    if (runtimes().get(place) === shared) runtimes().delete(place);
    await closing?.close();
  };
  return { runtime: standIn(() => opened().runtime), close };
};

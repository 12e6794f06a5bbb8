/** Workers of the tests, each in a workerd of its own that is a child of this process. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { firstLine, kill, start } from "../../../test/runtime/guest/child.ts";
import { isThere, workerd } from "../../../test/program.ts";

export const hasWorkerd = isThere(workerd);

/** Bundles a worker: nothing of Node's may be in it. */
export const bundled = async (file: string): Promise<string> => {
  const { output } = await build({
    input: join(import.meta.dirname, file),
    platform: "browser",
    external: ["cloudflare:workers"],
    output: { format: "esm", codeSplitting: false, minify: true },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
};

export interface WorkerOptions {
  readonly code: string;
  /** A class of objects, and the name by which the worker finds them. */
  readonly objects: { readonly className: string; readonly binding: string };
  /** The folder of its code and of what its objects store. */
  readonly folder: string;
  /** Texts that the worker is given, by name. */
  readonly texts?: { readonly [name: string]: string };
}

const config = ({ objects: { className, binding }, texts = {} }: WorkerOptions): string => {
  const given = Object.entries(texts).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-10-01",
      compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
      durableObjectNamespaces = [(className = "${className}", uniqueKey = "pawl-${className}", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [${[`(name = "${binding}", durableObjectNamespace = "${className}")`, ...given].join(", ")}],
      globalOutbound = "outside",
    )),
    (name = "disk", disk = (path = "objects", writable = true)),
    (name = "outside", network = (allow = ["private", "local", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
};

export interface Worker {
  readonly url: string;
  /** Ends it with SIGKILL. */
  readonly kill: () => Promise<void>;
}

/** Starts a worker, and resolves when it listens. */
export const startWorker = async (options: WorkerOptions): Promise<Worker> => {
  const { folder, code } = options;
  mkdirSync(join(folder, "objects"), { recursive: true });
  writeFileSync(join(folder, "worker.mjs"), code);
  writeFileSync(join(folder, "config.capnp"), config(options));
  const { child, early } = start(workerd.path, ["serve", "config.capnp", "--control-fd=3"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const { port } = JSON.parse(await Promise.race([firstLine(child, 3), early])) as { readonly port: number };
  return { url: `http://127.0.0.1:${port}`, kill: () => kill(child) };
};

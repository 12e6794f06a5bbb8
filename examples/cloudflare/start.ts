/**
 * `node examples/cloudflare/start.ts FOLDER`: starts a local workerd with the agent of `worker.ts`, and asks it to publish a text. What
 * its objects store is in the folder. Kill it at any moment with `node examples/cloudflare/kill.ts FOLDER`, and start it again: the
 * agent goes on where it was, with nobody asking again.
 *
 *   curl URL/waiting    lists what waits for a person
 *   curl URL/approve    approves it
 *   curl URL/publish    answers with the reply, once it is there
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "rolldown";

const [folder = "cloudflare-objects"] = process.argv.slice(2);
mkdirSync(join(folder, "objects"), { recursive: true });

await build({
  input: join(import.meta.dirname, "worker.ts"),
  platform: "browser",
  external: ["cloudflare:workers"],
  output: { format: "esm", file: join(folder, "worker.mjs"), codeSplitting: false },
  logLevel: "warn",
});
writeFileSync(
  join(folder, "config.capnp"),
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-10-01",
      compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
      durableObjectNamespaces = [(className = "Agent", uniqueKey = "pawl-example-agent", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "AGENT", durableObjectNamespace = "Agent")],
    )),
    (name = "disk", disk = (path = "objects", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
);

const workerd = join(dirname(createRequire(import.meta.url).resolve("workerd/package.json")), "bin/workerd");
const child = spawn(workerd, ["serve", "config.capnp", "--control-fd=3"], {
  cwd: folder,
  stdio: ["ignore", "inherit", "inherit", "pipe"],
});
writeFileSync(join(folder, "pid"), `${child.pid}`);
child.once("exit", (code, signal) => {
  console.log(`workerd ended with ${String(signal ?? code)}`);
  process.exit();
});

child.stdio[3]?.once("data", (told: Buffer) => {
  const { port } = JSON.parse(String(told).split("\n")[0] ?? "") as { readonly port: number };
  const url = `http://127.0.0.1:${port}`;
  console.log(`workerd ${child.pid} listens at ${url}: curl ${url}/waiting, ${url}/approve, ${url}/publish`);
  fetch(`${url}/publish`)
    .then(async (answer) => console.log(`the reply: ${await answer.text()}`))
    .catch(() => console.log("workerd was killed before the reply: start it again"));
});

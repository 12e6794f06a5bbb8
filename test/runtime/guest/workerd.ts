/** workerd, the runtime of Cloudflare Workers, without its compatibility with Node. A job is a request to a worker. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstLine, inFolder, kill, over, start } from "./child.ts";
import type { Guest, Job } from "./job.ts";

const worker = ({ code, call }: Job): string =>
  `${code}
export default {
  async fetch(request) {
    try {
      if (typeof process !== "undefined") throw new Error("the worker has the globals of Node");
      return Response.json(await suite[${JSON.stringify(call)}](await request.json()));
    } catch (thrown) {
      return new Response(String(thrown?.stack ?? thrown), { status: 500 });
    }
  },
};
`;

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
    compatibilityDate = "2026-10-01",
    compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

const portIn = (line: string): number => (JSON.parse(line) as { readonly port: number }).port;

export const inWorkerd =
  (path: string): Guest =>
  (job, within) =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, "worker.mjs"), worker(job));
      writeFileSync(join(cwd, "config.capnp"), config);
      const stdio = ["ignore", "ignore", "pipe", "pipe"] as const;
      const { child, early } = start(path, ["serve", "config.capnp", "--control-fd=3"], { cwd, stdio: [...stdio] });
      try {
        const port = portIn(await Promise.race([firstLine(child, 3), early, over(within, "workerd")]));
        const body = JSON.stringify(job.argument);
        const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, signal: within });
        if (!answer.ok) throw new Error(`workerd answered ${answer.status}: ${await answer.text()}`);
        return await answer.json();
      } finally {
        await kill(child);
      }
    });

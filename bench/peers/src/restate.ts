/** Restate: its server with default settings, one node on loopback, and its TypeScript SDK in another process. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { freePort, serve, untilAnswered } from "./process.ts";
import { type System, pause } from "./system.ts";
import { versionOf } from "./version.ts";

const binary = (): string => {
  const fromServer = createRequire(createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json"));
  const platform = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  return join(fromServer.resolve(`${platform}/package.json`), "../bin/restate-server");
};

const post = async (url: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
};

const started = async (folder: string) => {
  const [ingress, admin, fabric, endpoint] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const server = serve(binary(), ["--no-logo", "--node-name", "n1"], folder, "server", {
    cwd: folder,
    env: {
      ...process.env,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LOG_FILTER: "warn",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_ADVERTISED_HOST: "127.0.0.1",
      RESTATE_BIND_PORT: `${fabric}`,
      RESTATE_INGRESS__BIND_PORT: `${ingress}`,
      RESTATE_ADMIN__BIND_PORT: `${admin}`,
      RESTATE_BASE_DIR: join(folder, "restate"),
    },
  });
  const programs = join(import.meta.dirname, "restate-endpoint.ts");
  const sdk = serve(process.execPath, ["--expose-gc", programs], folder, "endpoint", {
    env: { ...process.env, PORT: `${endpoint}`, NODE_ENV: "production", RESTATE_LOGGING: "ERROR" },
  });
  const [at, asked] = [`http://127.0.0.1:${ingress}`, `http://127.0.0.1:${admin}`];
  await untilAnswered(() => post(`${asked}/deployments`, { uri: `http://127.0.0.1:${endpoint}` }), server);
  await untilAnswered(() => post(`${at}/bench/work`, 1), server);
  return { server, sdk, at, asked };
};

export const restate = async (folder: string): Promise<System> => {
  const { server, sdk, at, asked } = await started(folder);
  let parked = 0;

  const suspended = async (): Promise<number> => {
    const sql = "select count(*) as count from sys_invocation where status = 'suspended'";
    const { rows } = (await post(`${asked}/query`, { query: sql })) as { readonly rows: readonly { count: number }[] };
    return rows[0]?.count ?? 0;
  };

  const parkOne = async (steps: number): Promise<{ readonly name: string; readonly invocation: string }> => {
    const name = `parked-${(parked += 1)}`;
    const { invocationId } = (await post(`${at}/bench/parks/send`, { steps, name })) as {
      readonly invocationId: string;
    };
    return { name, invocation: invocationId };
  };

  const untilSuspended = async (count: number): Promise<void> => {
    while ((await suspended()) < count) await pause(100);
  };

  return {
    version: `${versionOf("@restatedev/restate-server")}, SDK ${versionOf("@restatedev/restate-sdk")}`,
    durability:
      "RocksDB, its log synced (rocksdb-disable-wal-fsync = false): 2.0 syncs a step alone, 0.8 at 32 at once",
    run: async (steps) => void (await post(`${at}/bench/work`, steps)),
    resume: async (steps) => {
      const before = await suspended();
      const { name, invocation } = await parkOne(steps);
      await untilSuspended(before + 1);
      const id = (await post(`${at}/bench/awakeable`, name)) as string;
      const ended = fetch(`${at}/restate/invocation/${invocation}/attach`);
      await pause(200);
      const start = performance.now();
      await post(`${at}/restate/awakeables/${id}/resolve`, {});
      const text = await (await ended).text();
      if (!text.includes("resumed")) throw new Error(`not resumed: ${text}`);
      return performance.now() - start;
    },
    park: async (count) => {
      const before = await suspended();
      let left = count;
      const lane = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await parkOne(1);
        }
      };
      await Promise.all(Array.from({ length: 64 }, lane));
      await untilSuspended(before + count);
      await post(`${at}/bench/collect`);
    },
    pids: [server.pid, sdk.pid],
    close: async () => {
      await sdk.stop();
      await server.stop();
    },
  };
};

/** The server of the demo: the page on loopback, and a host of pawl on a SQLite file. */
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import { join } from "node:path";
import { type Host, Receivers, nodePlatform, openHost, sqliteJournal } from "@pawl/driver-node";
import { Runtime } from "@pawl/runtime";
import { walkTool } from "../engine/walk.ts";
import { serveFiles, serveRoutes } from "./serve.ts";

export interface Demo {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface DemoOptions {
  /** The folder of the built page. */
  readonly page: string;
  /** The folder of the host's journal. */
  readonly folder: string;
  readonly port?: number;
}

const loopback = "127.0.0.1";
const dayMs = 24 * 60 * 60 * 1000;

/** Reads the secret for wait tokens, and creates it on the first start: it must survive restarts. */
const rootIn = (folder: string): Uint8Array => {
  const file = join(folder, "demo.root");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
};

const listen = async (server: Server, port: number): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, loopback, () => resolve());
  });
  const address = server.address();
  return `http://${loopback}:${typeof address === "object" && address !== null ? address.port : port}`;
};

export const openDemo = async ({ page, folder, port = 0 }: DemoOptions): Promise<Demo> => {
  const files = serveFiles(page);
  const receivers = new Receivers();
  const journal = sqliteJournal(join(folder, "demo.db"));
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools: [walkTool("host")],
    instance: `demo:${process.pid}:${randomUUID()}`,
    roots: { newest: { kid: "demo", secret: rootIn(folder) } },
    mover: receivers.mover(),
  });
  const opened: { host?: Host; url?: string } = {};
  const rights = ["call", "observe", "move"] as const;
  const token = (): string =>
    opened.host?.sign({ by: "demo", scopes: ["session:"], rights, expires_at: Date.now() + dayMs }) ?? "";
  const server = createServer((request, response) => {
    const isRoute = serveRoutes(request, response, { token, origin: () => opened.url ?? "" });
    if (!isRoute) files(request, response);
  });
  const url = await listen(server, port);
  opened.url = url;
  opened.host = await openHost({ runtime, receivers, server, secrets: [randomBytes(32)], origins: [url] });
  await runtime.recover();
  return {
    url,
    close: async () => {
      await opened.host?.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await runtime.close();
      await journal.close();
    },
  };
};

/** A web server on loopback with a few pages for the agent of `research.ts`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export const pages = ["ratchets", "clocks", "winches"] as const;

const pageOf = (name: string): string =>
  `<!doctype html><title>${name}</title><h1>On ${name}</h1><p>A pawl lets the wheel of ${name} turn one way only.</p>`;

export interface Library {
  readonly url: string;
  readonly close: () => void;
}

/** Opens the server, under the same port as before, so that recorded addresses stay valid. */
export const openLibrary = async (folder: string): Promise<Library> => {
  const file = join(folder, "library.port");
  const server: Server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    const isThere = pages.some((page) => page === name);
    response.writeHead(isThere ? 200 : 404, { "content-type": "text/html; charset=utf-8" }).end(pageOf(name));
  });
  const before = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(before, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(file, String(port));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, close };
};

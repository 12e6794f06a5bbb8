/** Servers on loopback, for as long as a test takes. */
import { type IncomingMessage, type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Served {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export const serve = async (listener: RequestListener): Promise<Served> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
};

export const bodyOf = async (message: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of message.setEncoding("utf8")) text += chunk as string;
  return text;
};

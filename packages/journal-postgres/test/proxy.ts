/** A proxy between a host and its database, which cuts connections and holds answers back. */
import { type Server, type Socket, connect, createServer } from "node:net";

export interface Proxy {
  readonly port: number;
  /** Cuts each connection once as many more answers have been held back. */
  readonly loseAnswers: (count: number) => void;
  /** Lets nothing through in either direction, and closes nothing: a hole in the network. */
  readonly hole: (isOpen: boolean) => void;
  readonly lost: () => number;
  readonly close: () => Promise<void>;
}

export const proxyTo = async (target: number): Promise<Proxy> => {
  const sockets = new Set<Socket>();
  let [toLose, lost, isHole] = [0, 0, false];
  const join = (client: Socket): void => {
    const server = connect(target, "127.0.0.1");
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined); // The other end hears of it by the close.
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (!isHole) server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (isHole) return;
      if (toLose === 0 || bytes.length < 40) return void client.write(bytes);
      toLose -= 1;
      lost += 1;
      client.destroy(); // What the server did stands; its answer is gone.
    });
  };
  const listener: Server = createServer(join);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  return {
    port: address !== null && typeof address === "object" ? address.port : 0,
    loseAnswers: (count) => void (toLose += count),
    hole: (isOpen) => void (isHole = isOpen),
    lost: () => lost,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
};

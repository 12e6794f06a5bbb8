/** Many at once, and readers who do not read. */
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type Siege, tokenOf } from "../siege.ts";
import { Socket } from "../socket.ts";

const mebibyte = 1024 * 1024;
const logBytes = 4 * mebibyte;
const argument = "x".repeat(32 * 1024);
const grown = 128 * mebibyte;

/** Makes a long log once for each host. */
const longLog = async (siege: Siege): Promise<void> => {
  const session = siege.client().session("long");
  for (let n = 0; n * argument.length < logBytes; n += 1)
    await session.request(`r${n}`, [{ label: "c", tool: "echo", args: { argument } }]);
};

/** Asks hundreds of times for a long log, and reads nothing. */
export const readNothing = async (siege: Siege): Promise<void> => {
  await longLog(siege);
  const before = await siege.weight();
  const socket = await Socket.greeted(siege.url, tokenOf());
  if (socket === undefined) return siege.say("a client with a token was not welcomed");
  socket.pause();
  const scope = "session:long";
  for (let id = 1; id <= 500; id += 1) {
    const isWatch = siege.random.below(2) === 0;
    const from = { scope, seq: siege.random.below(3), index: 0 };
    socket.send({
      type: isWatch ? "watch" : "observe",
      id,
      scope,
      window: 1_000_000,
      ...(isWatch ? { from } : { after: 0 }),
    });
    siege.try();
  }
  for (let i = 0; i < 8; i += 1) {
    await pause(200);
    const more = (await siege.weight()) - before;
    if (more > grown) siege.say(`questions that nobody reads the answers of took ${Math.round(more / mebibyte)} MiB`);
  }
  socket.reset();
};

const rude: readonly ((siege: Siege) => Promise<void>)[] = [
  async (siege) => void (await Socket.open(siege.url))?.reset(),
  async (siege) => {
    const socket = await Socket.open(siege.url);
    socket?.send("x".repeat(1 + siege.random.below(100_000)));
    socket?.reset();
  },
  async (siege) => {
    const isIn = await Socket.open(siege.url, { origin: "https://evil.example" });
    if (isIn !== undefined) siege.say("a page of another origin was let in");
  },
  async (siege) => {
    const socket = await Socket.greeted(siege.url, tokenOf());
    for (let id = 1; id <= 20; id += 1)
      socket?.send({
        type: "call",
        id,
        scope: `session:herd/${id}`,
        request: "r",
        calls: [{ id: "c", tool: "slow", args: {} }],
      });
    socket?.reset();
  },
  (siege) =>
    new Promise((resolve) => {
      const socket = connect({ port: Number(new URL(siege.url).port), host: "127.0.0.1" });
      socket.on("error", () => undefined); // A close event follows.
      socket.once("close", () => resolve());
      socket.write(
        ["GET / HTTP/1.1\r\nX: ", "\u0000\u0001\u0002", "POST /flow HTTP/1.1\r\nContent-Length: 9e9\r\n\r\n"][
          siege.random.below(3)
        ] ?? "",
      );
      setTimeout(() => socket.resetAndDestroy(), siege.random.below(200));
    }),
];

/** Comes in hundreds, and breaks off. */
export const herd = async (siege: Siege): Promise<void> => {
  for (let wave = 0; wave < 3; wave += 1)
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        await rude[siege.random.below(rude.length)]?.(siege);
        siege.try();
      }),
    );
};

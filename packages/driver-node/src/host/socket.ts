/** The sockets of Node as a host's connections see them, and their heartbeat. */
import type { HostSocket } from "@pawl/wire/host";
import type { WebSocket } from "ws";

/** Pings at each beat and terminates a socket that has not answered the last one. Returns a function that stops it. */
export const startHeartbeat = (socket: WebSocket, everyMs: number): (() => void) => {
  let hasAnswered = true;
  const timer = setInterval(() => {
    if (!hasAnswered) return socket.terminate();
    hasAnswered = false;
    return socket.ping();
  }, everyMs);
  const stop = (): void => clearInterval(timer);
  socket.on("pong", () => (hasAnswered = true));
  socket.once("close", stop);
  return stop;
};

/** Time that a peer has to answer the closing handshake before it is cut off. */
const closeMs = 2000;

/** Gives a connection its end of a socket. A client that is welcome is pinged at each beat. */
export const hostSocketOf = (socket: WebSocket, heartbeatMs: number): HostSocket => ({
  get isOpen() {
    return socket.readyState === socket.OPEN;
  },
  get buffered() {
    return socket.bufferedAmount;
  },
  send: (text, left) => socket.send(text, left),
  pause: () => socket.pause(),
  resume: () => socket.resume(),
  close: (code, reason) => {
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), closeMs).unref();
  },
  welcomed: () => void startHeartbeat(socket, heartbeatMs),
});

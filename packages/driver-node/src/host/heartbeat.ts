/** Whether somebody is still there: whoever answers no ping until the next one is due is gone. */
import type { WebSocket } from "ws";

/** Asks at every beat, until the socket is closed, or what this gives back is called. */
export const beat = (socket: WebSocket, everyMs: number): (() => void) => {
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

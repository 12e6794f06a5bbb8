/**
 * A clock that a file sets, for all code of a process, as libfaketime does for a program with its timestamp file: what the file
 * says is added to the machine's time. Monotonic time and timers go on as they are.
 */
import { readFileSync } from "node:fs";

/** The file in a host's folder that says how far its clock is ahead, in milliseconds. */
export const clockFile = "clock.txt";

const everyMs = 10;

/** Sets this process's clock by a file, now and whenever that changes. */
export const followClock = (file: string): void => {
  const real = Date.now.bind(Date);
  let ahead = 0;
  const look = (): void => void (ahead = Number(readFileSync(file, "utf8")));
  look();
  setInterval(look, everyMs).unref();
  const now = (): number => real() + ahead;
  globalThis.Date = new Proxy(Date, {
    construct: (of, given: readonly unknown[], as) => Reflect.construct(of, given.length === 0 ? [now()] : given, as),
    get: (of, key) => (key === "now" ? now : Reflect.get(of, key)),
  });
};

/** Costs of the Node driver, relative to a committed insert. Each figure has a process of its own. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Figure, Measurement } from "./figure.ts";

const children = new Map<string, ChildProcess>();

/** Returns the process of this name; figures that are measured together share one. */
const childOf = (process: string): ChildProcess => {
  const child = children.get(process) ?? fork(new URL("node-process.ts", import.meta.url));
  children.set(process, child);
  return child;
};

const roundIn = async (process: string, name: string): Promise<Measurement> => {
  const child = childOf(process);
  child.ref();
  child.send(name);
  const [measurement] = (await once(child, "message")) as [Measurement];
  child.unref(); // A figure whose process another one closes still ends.
  return measurement;
};

const close = (process: string): void => {
  children.get(process)?.kill();
  children.delete(process);
};

/** Warms up for ten rounds: a host runs for days with compiled code. */
const warm = { warmUp: 10, rounds: 21 };

const figure = (name: string, bound: number, what: string, unit = "us"): Figure => ({
  name: `node.${name}`,
  what,
  unit,
  bound,
  round: () => roundIn(name, `node.${name}`),
  close: () => close(name),
});

const warmFigure = (name: string, bound: number, what: string): Figure => ({
  ...figure(name, bound, `${what}, once warm`),
  ...warm,
});

/** Both come from one long round. */
const parkedFigures: readonly Figure[] = [
  {
    name: "node.parked",
    what: "resident memory that 100,000 parked sessions add",
    unit: "MB",
    bound: 30,
    rounds: 1,
    round: () => roundIn("parked", "node.parked"),
    renew: () => close("parked"),
  },
  {
    name: "node.wake",
    what: "waking one of them until its reply, p99",
    unit: "ms",
    bound: 20,
    rounds: 1,
    round: () => roundIn("parked", "node.wake"),
    close: () => close("parked"),
  },
];

export const nodeFigures: readonly Figure[] = [
  warmFigure("seq", 1 / 0.75, "a durable step of calls of 10, one at a time, relative to a committed insert"),
  warmFigure("seq_bound", 1 / 0.65, "the same of an owner-bound tool"),
  figure("commits", 11, "commits of a call of 10 steps", "commits"),
  figure("commits_bound", 12, "the same of an owner-bound tool", "commits"),
  warmFigure("conc", 1 / 6, "a step of 32 calls at once, relative to a committed insert"),
  warmFigure("group", 1 / 0.4, "the same, relative to a row in commits of 32 rows"),
  figure("long", 1.2, "a step at the end of a call of 10,000, relative to one at its start"),
  warmFigure("call", 2.7, "a call of one step, relative to a committed insert"),
  warmFigure("call_bound", 3.8, "the same of an owner-bound tool"),
  figure("resume", 10, "opening a session until its body goes on after 1,000 recorded steps", "ms"),
  figure("resume_batch", 1.2, "the same of a suspended loop whose batch is answered", "ms"),
  ...parkedFigures,
];

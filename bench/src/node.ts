/** What the Node driver costs beside a committed insert. Each figure has a process to itself. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Figure, Measurement } from "./figure.ts";

const children = new Map<string, ChildProcess>();

const childOf = (name: string): ChildProcess => {
  const child = children.get(name) ?? fork(new URL("node-process.ts", import.meta.url), [name]);
  children.set(name, child);
  return child;
};

const figure = (name: string, bound: number, what: string, unit = "us"): Figure => ({
  name: `node.${name}`,
  what,
  unit,
  bound,
  round: async () => {
    const child = childOf(`node.${name}`);
    child.send("round");
    const [measurement] = (await once(child, "message")) as [Measurement];
    return measurement;
  },
  close: () => void children.get(`node.${name}`)?.kill(),
});

export const nodeFigures: readonly Figure[] = [
  figure("seq", 1 / 0.75, "a durable step of calls of 10, one at a time, beside a committed insert"),
  figure("seq_bound", 1 / 0.65, "the same of an owner-bound tool"),
  figure("commits", 11, "commits of a call of 10 steps", "commits"),
  figure("commits_bound", 12, "the same of an owner-bound tool", "commits"),
  figure("conc", 1 / 6, "a step of 32 calls at once, beside a committed insert"),
  figure("group", 1 / 0.4, "the same beside a row in commits of 32 rows"),
  figure("long", 1.2, "a step at the end of a call of 10,000, beside one at its start"),
  figure("call", 2.7, "a call of one step, beside a committed insert"),
  figure("call_bound", 3.8, "the same of an owner-bound tool"),
  figure("resume", 10, "opening a session until its body goes on after 1,000 recorded steps", "ms"),
];

/** Programs of a run's sessions: a seed decides which tools each one calls. */
import type { CallOfRequest } from "@pawl/runtime";
import type { Args } from "./tools.ts";
import { Random } from "./random.ts";

export interface Program {
  readonly session: string;
  readonly requests: readonly { readonly id: string; readonly calls: readonly CallOfRequest[] }[];
}

const sizes = { steps: 4, once: 4, keyed: 4, heavy: 6, waits: 1, asked: 1, long: 1, outside: 1, bound: 1 } as const;
type Name = keyof typeof sizes;
const names = Object.keys(sizes) as [Name, ...Name[]];

const callOf = (request: string, id: string, tool: Name, n: number): CallOfRequest => {
  const args: Args = { call: `${request}:${id}`, n };
  return { label: id, tool, args: { ...args } };
};

/** Returns the n-th session's program. Tools take turns so that each is called; the rest is random. */
export const programOf = (seed: number, n: number): Program => {
  const random = new Random(seed * 1_000_003 + n);
  const requests = ["r1", "r2"].map((id, i) => {
    const tools: readonly Name[] = [names[(n + i) % names.length] as Name, random.of(names)].slice(
      0,
      1 + random.below(2),
    );
    const calls = tools.map((tool, at) => callOf(id, `c${at}`, tool, 1 + random.below(sizes[tool])));
    return { id, calls };
  });
  return { session: `s${n}`, requests };
};

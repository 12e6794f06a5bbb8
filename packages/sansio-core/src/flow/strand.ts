/** How a strand moves: one node on, into a body, out of it, or to its end. Nothing here looks outside. */
import type { Ending, FlowRow, Frame, Part, Strand, StrandState } from "./model.ts";
import type { FlowNode } from "./program.ts";
import { exactOrText } from "./text.ts";
import type { Born, Command, State } from "../kernel/vocabulary.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";

/** Where a strand is: in what it began with, below which step, in which turn of a loop around it. */
export interface Ground {
  readonly nodes: readonly FlowNode[];
  readonly prefix: readonly string[];
  /** The node of the flow that it is in, if it is in one. */
  readonly top: number | undefined;
  readonly turn: number | undefined;
}

/** A strand has a frame from its first moment to its last. */
const topFrame = ({ frames }: Strand): Frame => frames.at(-1) as Frame;

/** The body of a node that a frame is in; undefined where the node has none of the sort. */
const bodyIn = (node: FlowNode | undefined, part: Part): readonly FlowNode[] | undefined => {
  switch (node?.node_type) {
    case "conditional":
      return part.type === "then" ? node.then_body : part.type === "else" ? node.else_body : undefined;
    case "for_in":
      return part.type === "turn" ? node.body : undefined;
    default:
      return undefined;
  }
};

/** The body that the last of these frames is in; undefined where they do not lead to one. */
export const bodyAt = (nodes: readonly FlowNode[], frames: readonly Frame[]): readonly FlowNode[] | undefined => {
  let body: readonly FlowNode[] | undefined = nodes;
  for (let i = 1; i < frames.length && body !== undefined; i++) {
    body = bodyIn(body[(frames[i - 1] as Frame).next], (frames[i] as Frame).part);
  }
  return body;
};

/** The node that the strand is at; undefined at the end of its body. */
export const nodeAt = ({ nodes }: Ground, { frames }: Strand): FlowNode | undefined =>
  bodyAt(nodes, frames)?.[(frames.at(-1) as Frame).next];

const segmentOf = (part: Exclude<Part, { readonly type: "flow" }>): string => {
  switch (part.type) {
    case "branch":
      return `par[${part.index}]`;
    case "turn":
      return `for_in[${part.index}]`;
    default:
      return `conditional.${part.type}`;
  }
};

/** The names of the bodies and places around the node that the strand is at. */
const segments = ({ prefix }: Ground, { frames }: Strand): readonly string[] => [
  ...prefix,
  ...frames.flatMap(({ part, next }) => (part.type === "flow" ? [] : [segmentOf(part), `step[${next}]`])),
];

const turnOf = (frames: readonly Frame[]): number | undefined => {
  const part = frames.findLast((frame) => frame.part.type === "turn")?.part;
  return part?.type === "turn" ? part.index : undefined;
};

export const placeOf = (ground: Ground, strand: Strand) => ({
  path: segments(ground, strand).join("."),
  top: ground.top ?? (strand.frames[0] as Frame).next,
  turn: turnOf(strand.frames) ?? ground.turn,
});

/** The ground of a branch of the block that the strand is at. */
export const branchGround = (ground: Ground, strand: Strand, nodes: readonly FlowNode[]): Ground => {
  const { top, turn } = placeOf(ground, strand);
  return { nodes, prefix: segments(ground, strand), top, turn };
};

/** Keeps of a branch that is over the part that its block looks at. */
const over = (strand: Strand, ending: Ending): Strand => {
  const [first] = strand.frames as readonly [Frame];
  const state = { type: "over", ending } as const;
  if (first.part.type !== "branch") return { ...strand, state };
  return { bindings: PersistentMap.empty(), counter: strand.counter, frames: [first], state };
};

export const failing = (strand: Strand, error: (Ending & { readonly type: "failed" })["error"]): Strand =>
  over(strand, { type: "failed", error });

export const bound = (strand: Strand, name: string | undefined, text: string): Strand =>
  name === undefined ? strand : { ...strand, bindings: strand.bindings.set(name, text) };

/** A node at the top counts when it is completed. */
const counted = (part: Part): Part => (part.type === "flow" ? { ...part, executed: part.executed + 1 } : part);

/** All bindings, in the order of their names. */
export const boundTexts = ({ bindings }: Strand): { readonly [name: string]: string } =>
  Object.fromEntries([...bindings].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The node that the strand is at is completed; it goes on with the next. */
export const completed = (strand: Strand, output: string): Strand => {
  const { part, next, output: before } = topFrame(strand);
  const frame = { part: counted(part), next: next + 1, output: output === "" ? before : output };
  return { ...strand, frames: [...strand.frames.slice(0, -1), frame], state: { type: "walking" } };
};

export const entered = (strand: Strand, part: Part): Strand => ({
  ...strand,
  frames: [...strand.frames, { part, next: 0, output: "" }],
});

/** Outputs one under the other, without the empty ones. */
export const joined = (a: string, b: string): string => (a === "" || b === "" ? a + b : `${a}\n${b}`);

type Turn = Part & { readonly type: "turn" };

/** The loop's variable has this turn's item, and its body begins. */
const turned = (strand: Strand, part: Turn): Strand =>
  bound(entered(strand, part), part.variable, part.items[part.index] as string);

/** Begins a loop over items, of which there is one. */
export const looped = (strand: Strand, variable: string, items: readonly string[]): Strand =>
  turned(strand, { type: "turn", variable, items, index: 0, output: "" });

/** From the loop in the last of these frames to its next turn, or out of it. */
const nextTurn = (strand: Strand, part: Turn, output: string): Strand => {
  const around = { ...strand, frames: strand.frames.slice(0, -1) };
  const index = part.index + 1;
  return index < part.items.length ? turned(around, { ...part, index, output }) : completed(around, output);
};

/** The body that the strand is in is at its end. */
export const left = (strand: Strand): Strand => {
  const { part, output } = topFrame(strand);
  switch (part.type) {
    case "flow":
    case "branch":
      return over(strand, { type: "completed", output });
    case "turn":
      return nextTurn(strand, part, joined(part.output, output));
    default:
      return completed({ ...strand, frames: strand.frames.slice(0, -1) }, output);
  }
};

/** Outside of loops a loop's word ends a branch, and is passed over at the top. */
const outOfLoop = (strand: Strand): Strand => {
  const [first] = strand.frames as readonly [Frame];
  if (first.part.type === "branch") return over(strand, { type: "completed", output: "" });
  return { ...strand, frames: [{ ...first, next: first.next + 1 }] };
};

/** `break` and `continue`: what this turn has put out is lost. */
export const leftTurn = (strand: Strand, word: "break" | "continue"): Strand => {
  const at = strand.frames.findLastIndex(({ part }) => part.type === "turn");
  const part = strand.frames[at]?.part;
  if (part?.type !== "turn") return outOfLoop(strand);
  if (word === "continue") return nextTurn({ ...strand, frames: strand.frames.slice(0, at + 1) }, part, part.output);
  return completed({ ...strand, frames: strand.frames.slice(0, at) }, part.output);
};

export const returned = (strand: Strand, value: string): Strand => {
  const [first, ...rest] = strand.frames as readonly [Frame, ...Frame[]];
  const frames = [{ ...first, part: counted(first.part) }, ...rest];
  return over({ ...strand, frames }, { type: "returned", value });
};

// Reading a flow: its strands, and what each of them waits for.

export interface Standing {
  readonly ground: Ground;
  readonly strand: Strand;
}

export const rootGround = ({ flow }: Pick<FlowRow, "flow">): Ground => ({
  nodes: flow.nodes,
  prefix: [],
  top: undefined,
  turn: undefined,
});

/** A strand, and those below it. */
const below = ({ ground, strand }: Standing): readonly Standing[] => {
  if (strand.state.type !== "branches") return [];
  const node = nodeAt(ground, strand);
  const branches = node?.node_type === "parallel_block" ? node.branches : [];
  return strand.state.strands.map((one, i) => ({
    ground: branchGround(ground, strand, branches[i] ?? []),
    strand: one,
  }));
};

/** All strands of a flow, each in front of those of its block. */
export const strandsOf = (row: Pick<FlowRow, "flow" | "root">): readonly Standing[] => {
  const all: Standing[] = [{ ground: rootGround(row), strand: row.root }];
  for (let i = 0; i < all.length; i++) all.push(...below(all[i] as Standing));
  return all;
};

export type Waiting = Extract<StrandState, { readonly type: "call" | "lambda" }>;

/** Lists what the strands of a flow wait for. */
export const waitingsOf = (row: Pick<FlowRow, "flow" | "root">, type: Waiting["type"]): readonly Waiting[] =>
  strandsOf(row).flatMap(({ strand: { state } }) => (state.type === type ? [state as Waiting] : []));

interface AskedLambda {
  readonly born: number;
  readonly step: number;
  readonly command: Extract<Command, { readonly type: "lambda.apply" }>;
}

/** The lambdas that are asked for and not yet applied. */
export const lambdasOf = (row: FlowRow): readonly AskedLambda[] =>
  strandsOf(row).flatMap(({ ground, strand }) => {
    const { state, bindings } = strand;
    const node = nodeAt(ground, strand);
    if (state.type !== "lambda" || node?.node_type !== "lambda_data_apply") return [];
    const { lambda_data_name: name, target } = node;
    const asked = { request: row.request, id: state.id, name, target, input: exactOrText(target, bindings) };
    return [{ born: state.born, step: state.step, command: { type: "lambda.apply", ...asked } }];
  });

export const outstandingOfFlows = (state: State): Born[] =>
  state.flows
    .values()
    .toSorted((a, b) => (a.request < b.request ? -1 : 1))
    .flatMap(lambdasOf)
    .map(({ born, step, command }) => ({ born, index: step, command }));

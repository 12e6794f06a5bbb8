/** What can be read off a flow: its strands, and what each of them waits for. */
import type { Command } from "../kernel/command.ts";
import type { FlowRow, Strand, StrandState } from "./model.ts";
import { type Ground, branchGround, nodeAt } from "./strand.ts";
import { exactOrText } from "./text.ts";

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

/** What the strands of a flow wait for. */
export const waitingsOf = (row: Pick<FlowRow, "flow" | "root">, type: Waiting["type"]): readonly Waiting[] =>
  strandsOf(row).flatMap(({ strand: { state } }) => (state.type === type ? [state as Waiting] : []));

export interface AskedLambda {
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

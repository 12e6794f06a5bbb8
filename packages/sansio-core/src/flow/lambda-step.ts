/** A lambda's step: the driver applies it where it is registered, its placeholder stands where it is not. */
import type { LambdaResult, Strand } from "./model.ts";
import { lambdaBinding, placeholder } from "./name.ts";
import type { NodeOf } from "./program.ts";
import type { Stage } from "./stage.ts";
import { type Ground, failing } from "./strand.ts";
import { exactOrText } from "./text.ts";

type LambdaNode = NodeOf<"lambda_data_apply">;

const nameOf = ({ lambda_data_name }: LambdaNode): string =>
  lambda_data_name === "" ? "LambdaApply" : lambda_data_name;

const finished = (
  stage: Stage,
  ground: Ground,
  strand: Strand,
  { node, output }: { readonly node: LambdaNode; readonly output: string },
): Strand => {
  const done = { step: strand.counter - 1, name: nameOf(node), success: true, output };
  return stage.finished(ground, strand, lambdaBinding(node.target, node.output_type), done);
};

const ask = (stage: Stage, ground: Ground, strand: Strand, { lambda_data_name: name, target }: LambdaNode): Strand => {
  const { request } = stage.row;
  const id = stage.idOf(ground, strand);
  stage.draft.emit({ type: "lambda.apply", request, id, name, target, input: exactOrText(target, strand.bindings) });
  return stage.waiting(strand, "lambda", id);
};

export const applyLambda = (stage: Stage, ground: Ground, strand: Strand, node: LambdaNode): Strand => {
  const begun = stage.begun(ground, strand, nameOf(node), "lambda_data_apply");
  if (begun.state.type !== "walking") return begun;
  const { lambda_data_name: name, target } = node;
  if (stage.row.lambdas.includes(name)) return ask(stage, ground, begun, node);
  if (stage.row.unresolved === "fail") return failing(begun, { type: "MissingDependency", name: `lambda '${name}'` });
  return finished(stage, ground, begun, { node, output: placeholder("lambda", name, target, strand.bindings) });
};

export const lambdaApplied = (
  stage: Stage,
  ground: Ground,
  strand: Strand,
  applied: { readonly node: LambdaNode; readonly result: LambdaResult },
): Strand => {
  const { node, result } = applied;
  if (result.status === "ok") return finished(stage, ground, strand, { node, output: result.output });
  return failing(strand, { type: "BackendError", name: node.lambda_data_name, message: result.message });
};

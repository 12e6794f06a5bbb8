/** Exports of turns for drivers, stores and the packages around them. */
export { type AgentSpec, type OutputForm, OutputFormCodec, type Route } from "./agent.ts";
export { added as addedUsed, type Reached, ReachedCodec, type Usage, type Used, UsedCodec } from "./budget.ts";
export { TurnEndCodec, WhenBusyCodec } from "./codec.ts";
export { type FailureClass, type Finish, type ModelKind, type WhenBusy } from "./event.ts";
export { type Entry, seqsOf } from "./frame.ts";
export {
  type AnswerPart,
  AnswerPartCodec,
  assemble,
  type Message as TurnMessage,
  MessageCodec as TurnMessageCodec,
  type Piece,
} from "./message.ts";
export { type TurnEnd } from "./model.ts";
export { modelFate } from "./model-event.ts";
export { type Plan as PromptPlan, promptPlan } from "./plan.ts";
export { promptOf, type PromptMessage } from "./prompt.ts";
export { piecesIn } from "./recorded.ts";

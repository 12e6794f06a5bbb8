/** `@pawl/agent`: agents as data, and their turns. */
/** Defines an agent; `agentHost` makes the options of a runtime that has some. */
export {
  type Agent,
  type AgentHostOptions,
  type AgentOptions,
  type AgentOutput,
  agentHost,
  defineAgent,
} from "./agent.ts";
/** A turn that was begun: a stream of what is said, a place in it, and an end. */
export { AgentTurn, type RunOptions, TurnFailed, type TurnSession } from "./turn.ts";
export { type Limit, type Limits } from "./limits.ts";
/** One way to ask a model; `@pawl/agent/ai-sdk` makes them of the AI SDK's models. */
export { type AgentModel, type ModelOptions } from "./model.ts";
/** A tool that gives the conversation to another agent; texts that models read, where a program gives none. */
export { defaultTexts, type HandoffOptions, handoff } from "./handoff.ts";
/** An agent as a tool of another. */
export { type AgentToolOptions, agentTool } from "./agent-tool.ts";
/** A model that a host asks, so that a page has no keys; and what the host serves it with. */
export { type RemoteModelOptions, remoteModel } from "./remote/remote-model.ts";
export { type ModelHandler, type ModelHandlerOptions, modelHandler } from "./remote/handler.ts";
/** Models for tests: one that follows a script, and those that answer as a log says. */
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptOptions,
  scriptedModel,
} from "./scripted-model.ts";
export { type RecordingOptions, recordedModels } from "./recorded-models.ts";
/** The words of models, piece by piece, and the reasons why they fail: for ports of one's own. */
export {
  type ModelAnswer,
  type ModelCall,
  ModelError,
  type ModelPort,
  type TurnCursor,
  type TurnFrame,
  turnCursorAfter,
} from "@pawl/runtime/driver";
export { type TurnEnd } from "@pawl/sansio-core/driver";

/** `@pawl/flow`: flows beside the core: their tools and lambdas, and what a wire shows of them. */
export { calculate } from "./calculator.ts";
export { answerDateTime } from "./date-time.ts";
export {
  type Declaration,
  type DeclarationError,
  type LambdaData,
  certaintyCeiling,
  composeDeclarations,
  declarationJson,
  decodeDeclaration,
  derivations,
  encodeDeclaration,
} from "./declaration.ts";
export { type EpistemicDegradationError, declarationOf, envelope } from "./psi.ts";
export { endpointOf, timeoutMs } from "./endpoint.ts";
export { type TransportFailure, httpAnswer, httpBody, httpFailure, httpMisfit } from "./http-form.ts";
export {
  type Dispatching,
  type Provider,
  type Providers,
  type Run,
  dispatch,
  plainProviders,
  runOf,
} from "./provider.ts";
export { type Registered, Registry, type ToolEntry, isStreaming } from "./registry.ts";
export { type Answer, type ToolResult } from "./result.ts";
export { outputOf } from "./run.ts";
export {
  type Frame,
  Wire,
  type WireEvent,
  type WireName,
  named,
  raw,
  sseKeepAlive,
  sseStart,
  sseText,
} from "./wire.ts";
export { EgressRefused, isRefusedAddress } from "@pawl/egress";
export { type HttpOptions, httpProvider } from "./http.ts";
export { type ProgramTools, type ProgramToolsOptions, programTools } from "./tool.ts";
export { psiLambdas } from "./lambda.ts";
export { type FlowMisfit, type FlowRequest, firstBindings, readFlow } from "./program.ts";
export {
  type Body,
  type Condition,
  type Reference,
  apply,
  back,
  bind,
  each,
  either,
  flow,
  is,
  par,
  ref,
  skip,
  stop,
  use,
  when,
} from "./builder.ts";
export { FlowServer, type FlowServerOptions, type FlowSession, type ServedFlow } from "./serve.ts";

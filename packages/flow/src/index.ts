/** `@pawl/flow`: flows beside the core: their tools and lambdas, and what a wire shows of them. */
export { calculate } from "./native/calculator.ts";
export { answerDateTime } from "./native/date-time.ts";
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
} from "./lambda/declaration.ts";
export { type EpistemicDegradationError, declarationOf, envelope } from "./lambda/envelope.ts";
export { endpointOf, timeoutMs } from "./tool/endpoint.ts";
export { type TransportFailure, httpAnswer, httpBody, httpFailure, httpMisfit } from "./remote/http-form.ts";
export {
  type Dispatching,
  type Provider,
  type Providers,
  type Run,
  dispatch,
  plainProviders,
  runOf,
} from "./tool/provider.ts";
export { type Registered, Registry, type ToolEntry, isStreaming } from "./tool/registry.ts";
export { type Answer, type ToolResult } from "./tool/result.ts";
export { outputOf } from "./tool/run.ts";
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
} from "./serve/wire.ts";
export { EgressRefused, isRefusedAddress } from "@pawl/egress";
export { type HttpOptions, httpProvider } from "./remote/http.ts";
export { type ProgramTools, type ProgramToolsOptions, programTools } from "./tool/program-tools.ts";
export { psiLambdas } from "./lambda/lambda.ts";
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
export { FlowServer, type FlowServerOptions, type FlowSession, type ServedFlow } from "./serve/server.ts";

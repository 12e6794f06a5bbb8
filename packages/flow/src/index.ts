/** `@pawl/flow`: a builder for flows, their tools and lambdas, and flows over HTTP. */
export { EgressRefused, isRefusedAddress } from "@pawl/egress";
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
export { type EpistemicDegradationError, declarationOf, envelope, psiLambdas } from "./lambda/envelope.ts";
export { calculate } from "./native/calculator.ts";
export { answerDateTime } from "./native/date-time.ts";
export { type FlowMisfit, type FlowRequest, firstBindings, readFlow, parseFlow } from "./program.ts";
export {
  type HttpOptions,
  type TransportFailure,
  httpAnswer,
  httpBody,
  httpFailure,
  httpMisfit,
  httpProvider,
} from "./remote/http.ts";
export { FlowServer, type FlowServerOptions, type FlowSession, type ServedFlow } from "./serve/server.ts";
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
export { endpointOf, timeoutMs } from "./tool/endpoint.ts";
export { type ProgramTools, type ProgramToolsOptions, programTools } from "./tool/program-tools.ts";
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
export { type Answer, type ToolResult, outputOf } from "./tool/result.ts";

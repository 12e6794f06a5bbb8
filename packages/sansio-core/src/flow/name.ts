/** What outputs are when nobody makes them, and the names that outputs are bound to. */
import { type Bindings, exactOrText } from "./text.ts";

/** Of a lambda, or a tool, that nobody registered: what would have been asked. */
export const placeholder = (kind: "lambda" | "tool", name: string, argument: string, bindings: Bindings): string =>
  `${kind}:${name}(${exactOrText(argument, bindings)})`;

/** Where a lambda's output is bound; without an output type its target's name tells, without either nothing. */
export const lambdaBinding = (target: string, outputType: string): string | undefined => {
  if (outputType !== "") return outputType;
  return target === "" ? undefined : `${target}_lambda_applied`;
};

export const toolBinding = (tool: string): string | undefined => (tool === "" ? undefined : `${tool}_result`);

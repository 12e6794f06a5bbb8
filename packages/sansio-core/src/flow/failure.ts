/** Why a flow stops short of its end. */
import { absurd } from "../kernel/error.ts";

export type DispatchError =
  | { readonly type: "BackendError"; readonly name: string; readonly message: string }
  | { readonly type: "UpstreamCancelled" }
  | { readonly type: "MissingDependency"; readonly name: string }
  | { readonly type: "ChannelClosed" }
  /** Ours, so that every flow ends: it made more steps, or more text, than its scope allows. */
  | { readonly type: "LimitExceeded"; readonly limit: "max_flow_nodes" | "max_flow_text"; readonly allowed: number };

/** In words, for whoever submitted the flow. */
export const dispatchErrorText = (error: DispatchError): string => {
  switch (error.type) {
    case "BackendError":
      return `backend '${error.name}' stream() failed: ${error.message}`;
    case "UpstreamCancelled":
      return "upstream cancelled mid-dispatch";
    case "MissingDependency":
      return `dispatcher missing dependency: ${error.name}`;
    case "ChannelClosed":
      return "channel closed (consumer dropped)";
    case "LimitExceeded":
      return `flow exceeds ${error.limit}: at most ${error.allowed}`;
    default:
      return absurd(error);
  }
};

const escapes: { readonly [char: string]: string } = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};
const quoted = (text: string): string => `"${text.replace(/["\\\n\r\t]/g, (char) => escapes[char] as string)}"`;

/** As a developer reads it in `flow_error`: the name of the error, with its fields. */
export const dispatchErrorDebug = (error: DispatchError): string => {
  const { type, ...fields } = error;
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? quoted(value) : value}`,
  );
  return shown.length === 0 ? type : `${type} { ${shown.join(", ")} }`;
};

/** The result of one call, as `session.call` gives it: the value of the tool, or `ToolFailed`. */
import type { Json, ToolValue } from "@pawl/tool-value";
import { Refused } from "../error.ts";
import { type CalledTool, valueOfReply } from "../tool/called.ts";
import type { CallOfRequest, Replies } from "./call.ts";

/** Returns the one call of a request. */
export const callTo = <Input, Result>(
  tool: CalledTool<Input, Result>,
  args: Input,
  label: string | undefined,
): readonly CallOfRequest[] => [
  {
    tool: typeof tool === "string" ? tool : tool.name,
    args: args as Json,
    ...(label === undefined ? {} : { label }),
  },
];

/** Returns the value of a request of one call. */
export const resultOfRequest = (request: string, replies: Replies): ToolValue => {
  const [reply, ...others] = replies;
  if (reply !== undefined && others.length === 0) return valueOfReply(reply);
  const message = `request \`${request}\` has ${replies.length} calls, expected one: ask for its \`replies\``;
  throw new Refused("not_one_call", message);
};

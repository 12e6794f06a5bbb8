/** The result of one call, as `session.call` gives it: the value of the tool, or `ToolFailed`. */
import type { Json, ToolValue } from "@pawl/tool-value";
import { Refused } from "../error.ts";
import { type CalledTool, valueOfReply } from "../tool/called.ts";
import type { CallOfRequest, Replies } from "./call.ts";
import type { CallOptions, RequestOptions, Waiting } from "./request.ts";

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

/** Calls of one tool, on top of requests of many. */
export abstract class CallsTools {
  abstract request(request: string, calls: readonly CallOfRequest[], how?: RequestOptions): Promise<Replies>;
  abstract replies(request: string, waiting?: Waiting): Promise<Replies>;

  /**
   * Calls a tool and waits for its result; throws `ToolFailed` where it has none. `id` is the request's: the same call
   * again joins it, or is answered as it was.
   */
  async call<Input, Result = unknown>(
    tool: CalledTool<Input, Result>,
    args: Input,
    { id, label, ...how }: CallOptions,
  ): Promise<Result> {
    return resultOfRequest(id, await this.request(id, callTo(tool, args, label), how)) as Result;
  }

  /** Returns the result of a request of one call, when it is there; throws `ToolFailed` where it has none. */
  async result<Result = unknown>(request: string, waiting: Waiting = {}): Promise<Result> {
    return resultOfRequest(request, await this.replies(request, waiting)) as Result;
  }
}

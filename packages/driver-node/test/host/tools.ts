/** The tools of the host's tests. */
import { defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";

export const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });

/** Counts the runs of its body. */
export const counted = () => {
  const ran: unknown[] = [];
  return { ran, tool: defineTool({ name: "counted", durable: true, execute: (args) => (ran.push(args), ran.length) }) };
};

/** Completes from outside, with the tokens that it gave away. */
export const outside = () => {
  const tokens: string[] = [];
  const tool = defineTool({
    name: "outside",
    execute: (_, ctx) => (tokens.push(ctx.completionKey()), pending({ on_cancel: "ignore" })),
  });
  return { tool, tokens };
};

export const asked = defineTool<{ readonly amount: number }>({
  name: "asked",
  needsApproval: true,
  inputSchema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  execute: ({ amount }) => amount * 2,
});

export const use = (tool: string, args: object = {}) => [{ label: "c", tool, args: args as never }];
export const payloads = (
  replies: readonly { readonly output: { readonly outcome: { readonly payload: unknown } } }[],
) => replies.map(({ output }) => output.outcome.payload);

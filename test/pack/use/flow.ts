import { calculate, flow, use } from "@pawl/flow";
import { mcpProvider } from "@pawl/flow/mcp";
import { guardedFetch } from "@pawl/flow/node";

const sum = flow("Sum", [use("Calculator", "1 + 2 * 3")]);
console.log(
  JSON.stringify(calculate("1 + 2 * 3")),
  JSON.stringify(sum).length > 0,
  typeof mcpProvider,
  typeof guardedFetch,
);

/** The process that the official suite tests: a host of durable tools over a journal file, on a port of loopback. */
import { openRuntime } from "@pawl/driver-node";
import { type McpServer, ResourceTemplate, completable, inputRequired } from "@modelcontextprotocol/server";
import { type Registry } from "@pawl/runtime";
import { z } from "zod";
import { serveMcp } from "../../src/index.ts";
import { listen } from "../../src/node/index.ts";
import { redPixel } from "./media.ts";
import { suitePolicies, suiteTools } from "./tools.ts";

const [, , file = ":memory:"] = process.argv;

const user = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } });

const offerResources = (server: McpServer): void => {
  server.registerResource("text", "test://static-text", { description: "A text", mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource(
    "binary",
    "test://static-binary",
    { description: "A picture", mimeType: "image/png" },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: "image/png", blob: redPixel }],
    }),
  );
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, { description: "A template" }, (uri, { id }) => {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` });
    return { contents: [{ uri: uri.href, mimeType: "application/json", text }] };
  });
};

const offerPrompts = (server: McpServer): void => {
  server.registerPrompt("test_simple_prompt", { description: "A prompt" }, () => ({
    messages: [user("This is a simple prompt for testing.")],
  }));
  const twoArgs = z.object({
    arg1: completable(z.string(), (value) => ["paris", "park", "party"].filter((word) => word.startsWith(value))),
    arg2: z.string(),
  });
  const withArgs = { description: "A prompt with arguments", argsSchema: twoArgs };
  server.registerPrompt("test_prompt_with_arguments", withArgs, ({ arg1, arg2 }) => ({
    messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  }));
  const withResource = { description: "A prompt with a resource", argsSchema: z.object({ resourceUri: z.string() }) };
  server.registerPrompt("test_prompt_with_embedded_resource", withResource, ({ resourceUri }) => {
    const resource = { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." };
    return {
      messages: [
        { role: "user", content: { type: "resource", resource } },
        user("Please process the embedded resource above."),
      ],
    };
  });
  server.registerPrompt("test_prompt_with_image", { description: "A prompt with a picture" }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: redPixel, mimeType: "image/png" } },
      user("Please analyze the image above."),
    ],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description: "A prompt that asks" }, (context) => {
    const answer = context.mcpReq.inputResponses?.["user_context"] as { content?: { context?: string } } | undefined;
    if (answer !== undefined) return { messages: [user(`With ${String(answer.content?.context)}`)] };
    const requestedSchema = {
      type: "object" as const,
      properties: { context: { type: "string" as const } },
      required: ["context"],
    };
    const asked = inputRequired.elicit({ message: "What context should the prompt use?", requestedSchema });
    return inputRequired({ inputRequests: { user_context: asked } });
  });
};

const changes = { registry: undefined as Registry | undefined, prompts: (): void => undefined };
const tools = suiteTools(
  () => changes.registry as Registry,
  () => changes.prompts(),
);
const { runtime, close } = openRuntime({ file, tools: [...tools] });
changes.registry = runtime.registry;
const served = serveMcp(runtime, {
  immediateMs: 150,
  pollMs: 100,
  tools: suitePolicies,
  extend: (server) => {
    offerResources(server);
    offerPrompts(server);
  },
});
changes.prompts = served.promptsChanged;
const listening = await listen(served.fetch);
process.stdout.write(`${listening.url}\n`);
process.stdin.resume();
process.stdin.once("end", () => {
  void listening
    .close()
    .then(served.close)
    .then(close)
    .then(() => process.exit(0));
});

/** The tools that the official suite calls: durable ones, which ask their client where the suite wants to be asked. */
import { type Registry, type ToolContext, type ToolDefinition, ToolError, defineTool } from "@pawl/runtime";
import { attachment } from "@pawl/tool-value";
import { type ToolPolicy, elicit, listRoots, mcpResult, sample } from "../../src/index.ts";
import { redPixel, silence } from "./media.ts";

const none = { type: "object", properties: {} } as const;
const textField = { type: "string" } as const;
const formOf = (properties: {
  readonly [name: string]: { readonly type: "string" } | { readonly type: "boolean" };
}) => ({
  type: "object" as const,
  properties: { ...properties },
  required: Object.keys(properties),
});

const tool = (
  name: string,
  execute: (args: never, context: ToolContext) => unknown,
  inputSchema: object = none,
): ToolDefinition =>
  defineTool({
    name,
    description: `The suite's ${name}`,
    inputSchema: inputSchema as never,
    durable: true,
    execute: execute as ToolDefinition["execute"],
  });

const textOf = (text: string) => mcpResult({ content: [{ type: "text", text }] });
const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"));

const image = async (context: ToolContext) =>
  attachment(await context.attachments.put(bytesOf(redPixel), { media_type: { kind: "image", type: "png" } }));
const sound = async (context: ToolContext) =>
  attachment(await context.attachments.put(bytesOf(silence), { media_type: { kind: "file", type: "audio/wav" } }));

const askName = (context: ToolContext, name: string) =>
  elicit(context, name, { message: "What is your name?", requestedSchema: formOf({ name: textField }) });

const askPlain = (
  name: string,
  key: string,
  field: string,
  type: "string" | "boolean",
  answer: string,
): ToolDefinition =>
  tool(name, async (_, context) => {
    const { action, content } = await elicit(context, key, {
      message: "Please confirm",
      requestedSchema: formOf({ [field]: { type } as { readonly type: "boolean" } }),
    });
    return `${answer} ${action} ${String(content?.[field])}`;
  });

const question = (text: string) => ({
  messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  maxTokens: 100,
});

const progress = async (_: never, context: ToolContext): Promise<string> => {
  for (const done of [0, 50, 100]) {
    context.progress({ message: `step ${done}`, done, total: 100 });
    await context.sleep(20);
  }
  return "done";
};

const contents: readonly ToolDefinition[] = [
  tool("test_simple_text", () => "This is a simple text response for testing."),
  tool("test_image_content", (_, context) => image(context)),
  tool("test_audio_content", (_, context) => sound(context)),
  tool("test_embedded_resource", () =>
    mcpResult({
      content: [
        {
          type: "resource",
          resource: {
            uri: "test://embedded-resource",
            mimeType: "text/plain",
            text: "This is an embedded resource content.",
          },
        },
      ],
    }),
  ),
  tool("test_multiple_content_types", () =>
    mcpResult({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: redPixel, mimeType: "image/png" },
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  ),
  tool("test_error_handling", () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  }),
  tool("test_tool_with_progress", progress),
  tool("test_logging_tool", () => "said without a log"),
];

const asking: readonly ToolDefinition[] = [
  tool("test_input_required_result_elicitation", async (_, context) => {
    const { content } = await askName(context, "user_name");
    return textOf(`Hello, ${String(content?.["name"])}!`);
  }),
  tool("test_input_required_result_sampling", async (_, context) =>
    JSON.stringify(await sample(context, "capital_question", question("What is the capital of France?"))),
  ),
  tool("test_input_required_result_list_roots", async (_, context) =>
    JSON.stringify(await listRoots(context, "client_roots")),
  ),
  askPlain("test_input_required_result_request_state", "confirm", "ok", "boolean", "state-ok"),
  askPlain("test_input_required_result_tampered_state", "confirm", "ok", "boolean", "state-ok"),
  tool("test_input_required_result_multiple_inputs", async (_, context) => {
    const all = [
      askName(context, "user_name"),
      sample(context, "greeting", question("Generate a greeting")),
      listRoots(context, "client_roots"),
    ];
    return JSON.stringify(await Promise.all(all));
  }),
  tool("test_input_required_result_multi_round", async (_, context) => {
    const first = await elicit(context, "step1", {
      message: "Step 1: What is your name?",
      requestedSchema: formOf({ name: textField }),
    });
    const second = await elicit(context, "step2", {
      message: "Step 2: What is your favorite color?",
      requestedSchema: formOf({ color: textField }),
    });
    return `${String(first.content?.["name"])} likes ${String(second.content?.["color"])}`;
  }),
  tool("test_input_required_result_capabilities", async (_, context) => {
    const asked = [askName(context, "user_name"), sample(context, "greeting", question("Generate a greeting"))];
    return JSON.stringify(await Promise.race(asked));
  }),
  askPlain("test_streaming_elicitation", "confirm", "ok", "boolean", "streamed"),
];

const seconds = { type: "object", properties: { seconds: { type: "number" }, label: textField } } as const;

const tasks: readonly ToolDefinition[] = [
  tool("greet", ({ name }: { name: string }) => textOf(`Hello, ${name}!`), formOf({ name: textField })),
  tool(
    "slow_compute",
    async ({ seconds: time = 0, label = "" }: { seconds?: number; label?: string }, context) => {
      await context.sleep(time * 1000);
      return `computed ${label}`;
    },
    seconds,
  ),
  tool("failing_job", async (_, context) => {
    await context.sleep(300);
    throw new ToolError("this job always fails");
  }),
  tool("protocol_error_job", () => {
    throw new TypeError("the job is broken");
  }),
  tool(
    "confirm_delete",
    async ({ filename }: { filename: string }, context) => {
      const { action } = await elicit(context, "confirm", {
        message: `Delete ${filename}?`,
        requestedSchema: formOf({ confirm: { type: "boolean" } }),
      });
      return `${action}: ${filename}`;
    },
    formOf({ filename: textField }),
  ),
  tool("multi_input", async (_, context) => {
    const answers = await Promise.all([askName(context, "first"), askName(context, "second")]);
    return answers.map(({ content }) => String(content?.["name"])).join(" and ");
  }),
  tool("test_tool_with_task", async (_, context) => {
    const { content } = await askName(context, "user_name");
    await context.sleep(100);
    return textOf(`Hello from the task, ${String(content?.["name"])}!`);
  }),
];

/** A condition of JSON Schema, as text: an object with a field `then` would pass for a promise. */
const byPhone = `{
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] }
}`;

/** Tools that say what is new of the lists. */
const changing = (registry: () => Registry, promptsChanged: () => void): readonly ToolDefinition[] => [
  tool("test_missing_capability", () => "sampled"),
  tool("test_trigger_tool_change", () => {
    registry().register(tool("test_added_tool", () => "added"));
    return "changed";
  }),
  tool("test_trigger_prompt_change", () => {
    promptsChanged();
    return "changed";
  }),
  tool("json_schema_2020_12_tool", (args) => JSON.stringify(args), {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: textField, city: textField } } },
    properties: {
      name: textField,
      address: { $ref: "#/$defs/address" },
      contactMethod: textField,
      phone: textField,
      email: textField,
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    ...(JSON.parse(byPhone) as object),
    additionalProperties: false,
  }),
  tool("test_header_tool", (args) => JSON.stringify(args), {
    type: "object",
    properties: { region: { ...textField, "x-mcp-header": "Region" } },
  }),
];

/** Returns the tools of the suite. */
export const suiteTools = (registry: () => Registry, promptsChanged: () => void): readonly ToolDefinition[] => [
  ...contents,
  ...asking,
  ...tasks,
  ...changing(registry, promptsChanged),
];

const always = { task: "always" } as const;

/** How they answer. */
export const suitePolicies: { readonly [tool: string]: ToolPolicy } = {
  failing_job: { task: "required" },
  slow_compute: always,
  protocol_error_job: always,
  confirm_delete: always,
  multi_input: always,
  greet: { task: "never" },
  test_tool_with_task: { task: "required", ask: "call" },
  test_missing_capability: { needs: { sampling: {} } },
};

import { describe, expect, it } from "vitest";
import { inputSchema } from "../../src/rename/input-schema.ts";
import { rewritten } from "./frame.ts";

const after = (before: string, file?: string): string => rewritten(inputSchema, before, file);

/** A page with one program, and with JSON that has the field. */
const page = (field: string): string =>
  `The \`parameters\` of a tool:\n\n\`\`\`ts\ndefineTool({ ${field}: p });\n\`\`\`\n\n\`\`\`json\n{ "parameters": 1 }\n\`\`\`\n`;

describe("`parameters` becomes `inputSchema`", () => {
  it("in what is given to `defineTool`, by whatever name it was imported", () => {
    expect(after('const pay = defineTool({ name: "pay", parameters: schema, execute });')).toBe(
      'const pay = defineTool({ name: "pay", inputSchema: schema, execute });',
    );
    const renamed = 'import { defineTool as tool } from "@pawl/runtime";\ntool({ "parameters": schema });';
    expect(after(renamed)).toBe(renamed.replace('"parameters"', "inputSchema"));
  });

  it("and a variable of this name keeps it", () => {
    expect(after("const parameters = { type };\ndefineTool({ parameters });")).toBe(
      "const parameters = { type };\ndefineTool({ inputSchema: parameters });",
    );
  });

  it("in objects that are spread into a tool, of this scope", () => {
    const program = `
const base = { parameters: 1 };
const other = () => { const base = { parameters: 2 }; return base; };
defineTool({ ...base, ...(isLate ? { parameters: late } : {}) });`;
    expect(after(program)).toBe(`
const base = { inputSchema: 1 };
const other = () => { const base = { parameters: 2 }; return base; };
defineTool({ ...base, ...(isLate ? { inputSchema: late } : {}) });`);
  });

  it("in objects that have the type of a tool, or parts of it", () => {
    expect(after("const pay: ToolDefinition = { parameters: p };")).toContain("inputSchema: p");
    expect(after("const all: readonly ToolDefinition[] = [{ parameters: p }];")).toContain("inputSchema: p");
    expect(after("const pay = { parameters: p } satisfies ToolDefinition<Args>;")).toContain("inputSchema: p");
    expect(after("const make = (): ToolDefinition => ({ parameters: p });")).toContain("inputSchema: p");
    expect(after("type More = Partial<ToolDefinition>;\nconst more: More = { parameters: p };")).toContain(
      "inputSchema: p",
    );
  });

  it("in what is given to a function of the program that takes a tool or parts of one", () => {
    const program =
      "const tool = (name: string, more: Partial<ToolDefinition> = {}) => defineTool({ name, ...more });\n";
    expect(after(`${program}tool("pay", { parameters: p });`)).toBe(`${program}tool("pay", { inputSchema: p });`);
    const returned = "function base(name: string) { return { name, parameters: p }; }\ndefineTool({ ...base(n) });";
    expect(after(returned)).toBe(returned.replace("parameters:", "inputSchema:"));
  });

  it("and in no other object", () => {
    const others = `
const request = { name: "Price", parameters: [["item", "String"]] };
send({ tools: [{ function: { name, parameters } }] });
const flows: ServedFlows = { greet: { parameters: ["who"] } };
defineTool({ name: "t", inputSchema: { parameters: 1 }, execute: () => ({ parameters: 2 }) });`;
    expect(after(others)).toBe(others);
  });

  it("in the code blocks of Markdown, and not in its text", () => {
    expect(after(page("parameters"), "page.md")).toBe(page("inputSchema"));
  });
});

/** Tools for an MCP client. They survive a crash, and ask a person before they act. */
import { defineTool } from "@pawl/runtime";

/** Sends a mail once for a key, as mail services with idempotency keys do. */
export type Send = (to: string, text: string, key: string) => Promise<string>;

export const mailTool = (send: Send) =>
  defineTool({
    name: "send_mail",
    description: "Sends a mail.",
    inputSchema: {
      type: "object",
      properties: { to: { type: "string" }, text: { type: "string" } },
      required: ["to", "text"],
    } as const,
    durable: true,
    needsApproval: true,
    execute: ({ to, text }, ctx) => ctx.run("send", ({ key }) => send(to, text, key)),
  });

/** Replace this by your mail service. */
const send: Send = async (to, text, key) => `sent ${text.length} letters to ${to}, under ${key}`;

export const tools = [mailTool(send)];

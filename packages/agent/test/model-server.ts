/**
 * A server of models that speaks as OpenAI's does, in a process of its own: what it has been paid for is a ledger on disk, one
 * line for each question, with its key. It answers by a script, word by word; a key that it has answered is answered again, and
 * not paid for again, unless it is told to forget.
 */
import { appendFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const [ledger = "", wordMs = "5", parent = ""] = process.argv.slice(2);

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

const words = "A pawl lets a wheel turn one way only and so no step that was taken is ever lost again";

/** The answer of the script: it looks first, and then tells. */
const answerTo = (messages: readonly Message[]) => {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  return since.some(({ role }) => role === "tool")
    ? { text: words, calls: [] as const }
    : { text: "Let me look at it.", calls: [{ name: "look", arguments: "{}" }] };
};

const bodyOf = async (
  request: IncomingMessage,
): Promise<{ readonly messages: readonly Message[]; readonly stream?: boolean }> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as { readonly messages: readonly Message[] };
};

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const key = String(request.headers["idempotency-key"]);
  const { messages } = await bodyOf(request);
  appendFileSync(ledger, `asked ${key}\n`);
  const { text, calls } = answerTo(messages);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, more: object = {}): void => {
    const chunk = { id: `chat-${key}`, model: "wheel-1", choices: [{ index: 0, delta, ...more }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  for (const word of text.split(/(?<= )/u)) {
    await pause(Number(wordMs));
    if (response.destroyed) return;
    send({ role: "assistant", content: word });
  }
  for (const [index, call] of calls.entries())
    send({ tool_calls: [{ index, id: `call-${index}`, type: "function", function: call }] });
  send({}, { finish_reason: calls.length > 0 ? "tool_calls" : "stop" });
  response.write(`data: ${JSON.stringify({ id: "u", choices: [], usage })}\n\n`);
  response.end("data: [DONE]\n\n");
  appendFileSync(ledger, `answered ${key}\n`);
};

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
// The server ends with its parent.
const watch = setInterval(() => {
  try {
    process.kill(Number(parent), 0);
  } catch {
    process.exit();
  }
}, 500);
watch.unref();

/** An OpenAI-compatible server with scripted answers. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The kinds of answers; `silent` never answers. */
export type Answer =
  | { readonly type: "plain" | "stream"; readonly text: string | null; readonly calls?: readonly FakeCall[] }
  | { readonly type: "error"; readonly status: number; readonly text: string }
  | { readonly type: "silent" };

export interface FakeCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** A request, as it arrived. */
export interface Asked {
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string | null }[];
    readonly tools: readonly { readonly function: { readonly name: string } }[];
  };
}

export interface FakeEndpoint {
  readonly url: string;
  readonly asked: Asked[];
  readonly close: () => Promise<void>;
}

const wireCall = ({ id, name, args }: FakeCall): object => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

const plain = (text: string | null, calls: readonly FakeCall[] = []): string => {
  const message = { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }) };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return JSON.stringify({
    id: "c",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
  });
};

const half = (whole: string): readonly string[] => [whole.slice(0, whole.length / 2), whole.slice(whole.length / 2)];

/** Streams an answer with texts and arguments cut in two. */
const streamed = (text: string | null, calls: readonly FakeCall[] = []): string => {
  const deltas: object[] = [{ role: "assistant", content: "" }, ...half(text ?? "").map((content) => ({ content }))];
  for (const [index, { id, name, args }] of calls.entries()) {
    deltas.push({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of half(args)) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const lines = deltas.map(
    (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
  );
  return `: hello\n\n${lines.join("")}data: [DONE]\n\n`;
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const open = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };

const say = (response: ServerResponse, answer: Answer): void => {
  switch (answer.type) {
    case "plain":
      response.writeHead(200, { ...open, "content-type": "application/json" }).end(plain(answer.text, answer.calls));
      return;
    case "stream":
      response
        .writeHead(200, { ...open, "content-type": "text/event-stream" })
        .end(streamed(answer.text, answer.calls));
      return;
    case "error":
      response.writeHead(answer.status, { ...open, "content-type": "text/plain" }).end(answer.text);
      return;
    case "silent":
  }
};

/** Answers requests in order. A request without a scripted answer is an error. */
export const openFakeEndpoint = async (answers: readonly Answer[]): Promise<FakeEndpoint> => {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    if (request.method === "OPTIONS") return void response.writeHead(204, open).end();
    void textOf(request).then((text) => {
      const none: Answer = { type: "error", status: 500, text: `nobody expected question ${asked.length + 1}` };
      asked.push({ authorization: request.headers.authorization, body: JSON.parse(text) as Asked["body"] });
      say(response, request.url === "/v1/chat/completions" ? (answers[asked.length - 1] ?? none) : none);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
};

/**
 * A scripted server of models, as three APIs have them: chat completions, responses, and messages of Anthropic, whole or by
 * server-sent events; and a server of effects. Both keep a ledger, in the process of the test: what they were asked survives
 * the process that asked.
 */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Api = "chat" | "responses" | "messages";

/** What the model says next, by the results of tools that it was shown. */
interface Saying {
  readonly words: readonly string[];
  readonly call?: { readonly id: string; readonly name: string; readonly input: object };
}
const script: readonly Saying[] = [
  { words: ["Let ", "me ", "look. "], call: { id: "call_1", name: "look", input: { order: "A1" } } },
  { words: ["I ", "refund. "], call: { id: "call_2", name: "refund", input: { cents: 50 } } },
  { words: ["All ", "is ", "done."] },
];
export const wholeText = script.map(({ words }) => words.join("")).join("");

/** A moment of an answer, or of an effect, in which the process that waits for it may be killed. */
export type Moment = `${"before" | "in" | "after"} answer ${1 | 2 | 3}` | `${"before" | "after"} effect ${1 | 2}`;

export interface Ledger {
  /** Requests for each answer. */
  readonly asked: number[];
  /** Effects by their keys, with how often each was asked for. */
  readonly effects: Map<string, number>;
}

type Send = (event: object, name?: string) => void;

const chatChunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m1",
  choices: [{ index: 0, delta, finish_reason }],
});

/** An API: how it counts results, says a whole answer, and says one in events. */
interface Dialect {
  readonly path: string;
  readonly resultsIn: (body: Asked) => number;
  readonly whole: (saying: Saying) => object;
  readonly events: (saying: Saying) => readonly (readonly [event: object, name?: string])[];
}
interface Asked {
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly input?: readonly { readonly type?: string }[];
  readonly tools?: readonly { readonly name?: string }[];
}

const args = ({ input }: NonNullable<Saying["call"]>): string => JSON.stringify(input);

const chat: Dialect = {
  path: "/chat/completions",
  resultsIn: ({ messages = [] }) => messages.filter(({ role }) => role === "tool").length,
  whole: ({ words, call }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m1",
    choices: [
      {
        index: 0,
        finish_reason: call === undefined ? "stop" : "tool_calls",
        message: {
          role: "assistant",
          content: words.join(""),
          ...(call && {
            tool_calls: [{ id: call.id, type: "function", function: { name: call.name, arguments: args(call) } }],
          }),
        },
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }),
  events: ({ words, call }) => [
    ...words.map((content) => [chatChunk({ role: "assistant", content })] as const),
    ...(call === undefined
      ? []
      : [
          [
            chatChunk({
              tool_calls: [
                { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: args(call) } },
              ],
            }),
          ] as const,
        ]),
    [chatChunk({}, call === undefined ? "stop" : "tool_calls")],
  ],
};

const itemsOf = ({ words, call }: Saying): readonly object[] => [
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: words.join(""), annotations: [] }],
  },
  ...(call === undefined
    ? []
    : [
        {
          type: "function_call",
          id: `fc_${call.id}`,
          call_id: call.id,
          name: call.name,
          arguments: args(call),
          status: "completed",
        },
      ]),
];
const responseOf = (saying: Saying, status: string): object => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m1",
  status,
  output: status === "completed" ? itemsOf(saying) : [],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
});

const responses: Dialect = {
  path: "/responses",
  resultsIn: ({ input = [] }) => input.filter(({ type }) => type === "function_call_output").length,
  whole: (saying) => responseOf(saying, "completed"),
  events: (saying) => {
    const [message, call] = itemsOf(saying);
    const said: object[] = [
      { type: "response.created", response: responseOf(saying, "in_progress") },
      { type: "response.output_item.added", output_index: 0, item: { ...message, content: [], status: "in_progress" } },
      ...saying.words.map((delta) => ({
        type: "response.output_text.delta",
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        delta,
      })),
      { type: "response.output_item.done", output_index: 0, item: message },
    ];
    if (call !== undefined && saying.call !== undefined)
      said.push(
        {
          type: "response.output_item.added",
          output_index: 1,
          item: { ...call, arguments: "", status: "in_progress" },
        },
        {
          type: "response.function_call_arguments.delta",
          item_id: `fc_${saying.call.id}`,
          output_index: 1,
          delta: args(saying.call),
        },
        { type: "response.output_item.done", output_index: 1, item: call },
      );
    said.push({ type: "response.completed", response: responseOf(saying, "completed") });
    return said.map(
      (event, sequence_number) => [{ ...event, sequence_number }, (event as { type: string }).type] as const,
    );
  },
};

const blocksOf = ({ words, call }: Saying): readonly object[] => [
  { type: "text", text: words.join("") },
  ...(call === undefined ? [] : [{ type: "tool_use", id: call.id, name: call.name, input: call.input }]),
];
const messageOf = (content: readonly object[], stop_reason: string | null): object => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m1",
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
});
const stopOf = ({ call }: Saying): string => (call === undefined ? "end_turn" : "tool_use");

const messages: Dialect = {
  path: "/messages",
  resultsIn: ({ messages: said = [] }) =>
    said.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "tool_result")
      .length,
  whole: (saying) => messageOf(blocksOf(saying), stopOf(saying)),
  events: (saying) => {
    const { call } = saying;
    const text = saying.words.map((word) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: word },
    }));
    const said: object[] = [
      { type: "message_start", message: messageOf([], null) },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...text,
      { type: "content_block_stop", index: 0 },
    ];
    if (call !== undefined)
      said.push(
        {
          type: "content_block_start",
          index: 1,
          content_block: { type: "tool_use", id: call.id, name: call.name, input: {} },
        },
        { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: args(call) } },
        { type: "content_block_stop", index: 1 },
      );
    said.push(
      {
        type: "message_delta",
        delta: { stop_reason: stopOf(saying), stop_sequence: null },
        usage: { output_tokens: 2 },
      },
      { type: "message_stop" },
    );
    return said.map((event) => [event, (event as { type: string }).type] as const);
  },
};

/** Calls a tool by the name that the request has it under: some SDKs put a prefix before it. */
const knownAs = (saying: Saying, { tools = [] }: Asked): Saying => {
  const { call } = saying;
  const known = tools.find(({ name }) => call !== undefined && name?.endsWith(`__${call.name}`) === true)?.name;
  return call === undefined || known === undefined ? saying : { ...saying, call: { ...call, name: known } };
};

const dialects: Readonly<Record<Api, Dialect>> = { chat, responses, messages };

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
};

const json = (response: ServerResponse, value: object): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

/** Both servers, on loopback. `at` is told each moment, and may hold it up. */
export class Services {
  readonly ledger: Ledger = { asked: [0, 0, 0], effects: new Map() };
  readonly #at: (moment: Moment) => Promise<void> | void;
  readonly #server: Server;

  private constructor(at: Services["at"]) {
    this.#at = at;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  get at(): (moment: Moment) => Promise<void> | void {
    return this.#at;
  }

  static async open(at: (moment: Moment) => Promise<void> | void): Promise<Services> {
    const services = new Services(at);
    await new Promise<void>((resolve) => services.#server.listen(0, "127.0.0.1", resolve));
    return services;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (request.url === "/effect") return this.#effect(JSON.parse(body) as { key: string; name: string }, response);
    const asks = request.url?.replace(/^\/v1/, "") ?? "";
    const dialect = Object.values(dialects).find(({ path }) => asks.startsWith(path));
    if (dialect === undefined) throw new TypeError(`there is no ${request.url}`);
    const asked = JSON.parse(body) as Asked;
    const at = dialect.resultsIn(asked);
    const number = (at + 1) as 1 | 2 | 3;
    this.ledger.asked[at] = (this.ledger.asked[at] ?? 0) + 1;
    await this.#at(`before answer ${number}`);
    if (response.destroyed) return; // Whoever asked was killed.
    const saying = knownAs(script[at] as Saying, asked);
    if (asked.stream === true) await this.#events(dialect.events(saying), number, response);
    else {
      await this.#at(`in answer ${number}`);
      if (!response.destroyed) json(response, dialect.whole(saying));
    }
    if (response.destroyed) return;
    setTimeout(() => void this.#at(`after answer ${number}`), 40);
  }

  async #events(events: ReturnType<Dialect["events"]>, number: 1 | 2 | 3, response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send: Send = (event, name) =>
      void response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`);
    const half = Math.floor(events.length / 2);
    for (const [i, [event, name]] of events.entries()) {
      if (i === half) {
        await new Promise((resolve) => setTimeout(resolve, 30)); // The first half is read.
        await this.#at(`in answer ${number}`);
        if (response.destroyed) return;
      }
      send(event, name);
    }
    response.end("data: [DONE]\n\n");
  }

  async #effect(
    { key, name }: { readonly key: string; readonly name: string },
    response: ServerResponse,
  ): Promise<void> {
    const number = name === "look" ? 1 : 2;
    await this.#at(`before effect ${number}`);
    if (response.destroyed) return;
    this.ledger.effects.set(key, (this.ledger.effects.get(key) ?? 0) + 1);
    await this.#at(`after effect ${number}`);
    json(response, { done: name });
  }
}

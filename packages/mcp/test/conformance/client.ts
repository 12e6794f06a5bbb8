/**
 * The process that the official suite tests as a client: durable tools made of whatever server a scenario starts, each called
 * from a session. It serves one scenario after the other, as `relay.ts` names them: the suite starts a process for each.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Registry, type Runtime, type Session } from "@pawl/runtime";
import { openRuntime } from "@pawl/driver-node";
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import { mcpTools } from "../../src/client/index.ts";
import { answerKey, askedRequest } from "../../src/tool/ask.ts";
import { signedIn } from "./login.ts";

interface Scenario {
  readonly url: string;
  readonly scenario: string;
  readonly context?: string;
}

const examples: { readonly [type: string]: Json } = {
  string: "text",
  number: 2,
  integer: 2,
  boolean: true,
  array: [],
  object: {},
};

/** Makes arguments that fit a schema: what is required, by its type. */
const exampleOf = (schema: Json): JsonObject => {
  const { properties = {}, required = [] } = isObject(schema) ? schema : {};
  const names = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    names.map((name) => {
      const property = isObject(properties) ? properties[String(name)] : undefined;
      const type = isObject(property) ? property["type"] : undefined;
      return [String(name), examples[String(type)] ?? null];
    }),
  );
};

/** Answers what tools ask, until it is told to stop. */
const answerAll = async (session: Session, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    for (const wanted of await session.approvals()) {
      const asked = askedRequest(wanted.args);
      const schema = isObject(asked?.params) ? asked.params["requestedSchema"] : undefined;
      const content = { ...exampleOf(schema ?? null), confirmed: true };
      await wanted.approve({ by: "person", args: { [answerKey]: { action: "accept", content } } });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

interface Call {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Leaves out arguments that are null: their schema does not take it, and the session would refuse the call. */
const withoutNull = (args: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));

/** The calls of a scenario: those that it names, or one of each tool. */
const callsOf = (runtime: Runtime, given: { readonly toolCalls?: readonly Call[] }): readonly Call[] =>
  given.toolCalls ??
  runtime.registry.shown().map(({ name, input_schema: schema }) => ({ name, arguments: exampleOf(schema) }));

const live = async ({ url, context = "{}" }: Scenario): Promise<readonly string[]> => {
  const given = JSON.parse(context) as { readonly toolCalls?: readonly Call[]; readonly client_id?: string };
  const { runtime, close } = openRuntime({ file: ":memory:", tools: new Registry(), log: () => undefined });
  let isOver = false;
  const tools = await mcpTools({ name: "suite", prefix: "", url, login: signedIn(given), timeoutMs: 5000 }).catch(
    async (thrown: unknown) => {
      await close();
      throw thrown;
    },
  );
  try {
    runtime.registry.provide(tools.provider);
    const session = await runtime.session("suite");
    const answering = answerAll(session, () => isOver);
    const said: string[] = [];
    for (const [n, { name, arguments: args }] of callsOf(runtime, given).entries()) {
      const [reply] = await session.request(`call-${n}`, [{ tool: name, args: withoutNull(args) }]);
      said.push(JSON.stringify(reply?.output.outcome.status));
    }
    isOver = true;
    await answering;
    return said;
  } finally {
    isOver = true;
    await tools.close();
    await close();
  }
};

const server = createServer((incoming, outgoing) => {
  let text = "";
  incoming.setEncoding("utf8").on("data", (part: string) => (text += part));
  incoming.on("end", () => {
    live(JSON.parse(text) as Scenario).then(
      (said) => outgoing.end(said.join(" ")),
      (thrown: unknown) => outgoing.writeHead(500).end(thrown instanceof Error ? thrown.stack : String(thrown)),
    );
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));

/** `pawl mcp`: serves the tools of a module to MCP clients, over stdio or over HTTP on loopback. */
import { once } from "node:events";
import type { McpServerOptions, ServedMcp } from "@pawl/mcp";
import { type Claims, type Secrets, claimsOf, logTo, openRuntime } from "@pawl/driver-node";
import * as E from "fp-ts/lib/Either.js";
import { type Command, type Input, countOf, journalOption } from "../command.ts";
import { isDatabase, shownJournal } from "../database.ts";
import { type Exit, exit } from "../exit.ts";
import { loadModule } from "../module.ts";
import { loaded } from "../optional.ts";
import { journalOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { hostIn } from "./module.ts";
import { secretsOf, tokenFor } from "./secret.ts";

/** Reads tokens of a host: each caller has the scopes and rights that its token names. */
const verifier =
  (secrets: Secrets, terminal: Terminal) =>
  (token: string): Claims | undefined => {
    const claims = claimsOf(secrets, token, terminal.now());
    return E.isRight(claims) ? claims.right : undefined;
  };

/** Serves the one client that has started this process, until it closes standard input. */
const overStdio = async (served: ServedMcp, terminal: Terminal): Promise<void> => {
  const { serveOverStdio } = await import("@pawl/mcp/node");
  const connection = serveOverStdio(served);
  await Promise.race([once(process.stdin, "end"), once(process.stdin, "close"), stopped(terminal)]);
  await connection.close();
};

const stopped = async ({ interrupted }: Terminal): Promise<void> => {
  if (!interrupted.aborted) await once(interrupted, "abort");
};

const overHttp = async (
  served: ServedMcp,
  input: Input,
  journal: string,
  token: string | undefined,
  terminal: Terminal,
): Promise<void> => {
  const { listen } = await import("@pawl/mcp/node");
  const address = input.text("address");
  const port = countOf(input, "port") ?? 0;
  const listening = await listen(served.fetch, { port, ...(address === undefined ? {} : { address }) });
  terminal.print({ url: listening.url, journal, token }, () => [
    `${listening.url} over ${journal}`,
    ...(token === undefined ? [] : [`token: ${token}`]),
  ]);
  await stopped(terminal);
  await listening.close();
};

/** Returns what HTTP asks of callers, and the token that is printed. */
const guarded = async (
  journal: string,
  input: Input,
  terminal: Terminal,
): Promise<{ readonly options: McpServerOptions; readonly token?: string }> => {
  const by = input.text("grant");
  if (by === undefined && input.text("address") === undefined) return { options: {} };
  const secrets = await secretsOf(journal, undefined);
  const options = { verify: verifier(secrets, terminal) };
  return by === undefined ? { options } : { options, token: tokenFor(secrets, { by }, terminal.now()).token };
};

const serve = async (file: string, input: Input, terminal: Terminal): Promise<Exit> => {
  const { serveMcp } = await loaded("@pawl/mcp", "`pawl mcp`", () => import("@pawl/mcp"));
  const isHttp = input.isSet("http");
  const { limits: _, origins, ...definition } = hostIn(file, await loadModule(file));
  const journal = journalOf(input, terminal);
  const { options, token } = isHttp ? await guarded(journal, input, terminal) : { options: {} };
  const log = logTo({ write: (line) => terminal.note(line.trimEnd()) }, "warn");
  const { runtime, close } = openRuntime({
    ...definition,
    ...(isDatabase(journal) ? { postgres: journal } : { file: journal }),
    log,
  });
  const served = serveMcp(runtime, { ...options, ...(origins === undefined ? {} : { origins }), log });
  try {
    await runtime.recover();
    if (isHttp) await overHttp(served, input, shownJournal(journal), token, terminal);
    else await overStdio(served, terminal);
  } finally {
    await served.close();
    await close();
  }
  return exit.fine;
};

export const mcpCommand: Command = {
  name: "mcp",
  summary: "Serve tools to an MCP client: Claude Desktop, Cursor, VS Code, and others",
  usage: "<module>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...journalOption,
    http: { type: "boolean", what: "Serve streamable HTTP instead of standard input and output" },
    port: { type: "string", short: "p", value: "<n>", what: "With --http: the port (a free one)" },
    address: { type: "string", value: "<ip>", what: "With --http: the address to listen on; callers need tokens then" },
    grant: {
      type: "string",
      value: "<name>",
      what: "With --http: callers need tokens; print one in this name for a day",
    },
  },
  detail:
    "The module exports its tools as for `pawl host`. Over stdio the client starts this process and is its only caller; nothing else\nis written to standard output, and logs go to standard error. Calls survive a restart: the journal has them. A call that takes\nlong is a task for clients that know tasks, and approvals are asked in the client. It needs the package @pawl/mcp.",
  json: [{ what: "With --http, when it listens", fields: "url, journal, token?" }],
  examples: [
    ["pawl mcp ./tools.ts -j agent.db", "the command of a client's configuration"],
    ["pawl mcp ./tools.ts -j agent.db --http --port 7778", "for clients on this machine"],
    ["pawl mcp ./tools.ts -j agent.db --http --grant ann", "for callers with tokens"],
  ],
  run: (input, terminal) => serve(input.positionals[0] as string, input, terminal),
};

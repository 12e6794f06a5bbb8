/** `pawl host`: runs tools over a journal, for programs that reach it over WebSocket. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { openHost } from "../../host/host.ts";
import { signToken } from "../../host/token.ts";
import { openRuntime } from "../../open.ts";
import { type Command, countOf, journalOption } from "../command.ts";
import { exit, usageError } from "../exit.ts";
import { journalOf } from "../place.ts";
import { loadModule, toolsIn } from "../module.ts";

/** What tokens are signed under stands beside the journal; made where there is none. */
const secretOf = (file: string): Uint8Array => {
  const path = `${file}.host`;
  if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600, flag: "wx" });
  return readFileSync(path);
};

const grantMs = 24 * 60 * 60 * 1000;

export const hostCommand: Command = {
  name: "host",
  summary: "Run the tools of a module over a journal, for programs that reach it over WebSocket",
  usage: "<module>",
  least: 1,
  most: 1,
  options: {
    ...journalOption,
    port: { type: "string", short: "p", value: "<n>", what: "The port; any that is free without one" },
    grant: { type: "string", value: "<name>", what: "Print a token for all sessions, good for a day, for this name" },
  },
  detail:
    "The module exports its tools as `tools`. The host listens on loopback. The secret that tokens are signed under is\nkept beside the journal, in a file that ends in .host.",
  examples: [["pawl host ./tools.ts -j journal.db --port 7777 --grant ann", "and a token to reach it with"]],
  run: async (input, terminal) => {
    const [file = ""] = input.positionals;
    const port = countOf(input, "port") ?? 0;
    if (port > 65_535) throw usageError(`--port takes a port, found ${port}`);
    const tools = toolsIn(file, await loadModule(file));
    const journal = journalOf(input, terminal);
    const { runtime, close } = openRuntime({ file: journal, tools });
    const secrets = [secretOf(journal)] as const;
    const host = await openHost({ runtime, secrets, port, log: (message) => terminal.note(message) });
    const by = input.text("grant");
    const rights = ["call", "resolve", "approve", "observe", "execute"] as const;
    const claims = { scopes: ["session:"], rights, expires_at: terminal.now() + grantMs };
    const token = by === undefined ? undefined : signToken(secrets, { by, ...claims });
    terminal.tell({ url: host.url, journal, tools: tools.map(({ name }) => name), token }, () => [
      `${host.url} runs ${tools.map(({ name }) => name).join(", ")} over ${journal}`,
      ...(token === undefined ? [] : [`token for ${by}: ${token}`]),
    ]);
    if (!terminal.interrupted.aborted) await once(terminal.interrupted, "abort");
    await host.close();
    await close();
    return exit.fine;
  },
};

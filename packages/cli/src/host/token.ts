/** `pawl token`: makes a token for a host, signed with the host's secret. */
import { Right } from "@pawl/driver-node/operator";
import { type Command, type Input, countOf, journalOption } from "../command.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { journalOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { configOf } from "./config.ts";
import { type TokenRequest, dayHours, knownSecretsOf, tokenFor, defaultRights, writePrivate } from "./secret.ts";

const rightsIn = (input: Input): readonly Right[] | undefined => {
  const named = input.texts("right").flatMap((text) => text.split(","));
  const invalid = named.find((text) => !Right.is(text));
  if (invalid !== undefined)
    throw usageError(`--right expects call, resolve, approve, observe, execute or move, found \`${invalid}\``);
  return named.length === 0 ? undefined : named.filter(Right.is);
};

const requestIn = (input: Input): TokenRequest => {
  const [hours, rights, scopes] = [countOf(input, "hours", 1), rightsIn(input), input.texts("scope")];
  const [by = ""] = input.positionals;
  if (by === "") throw usageError("a token needs a name", "pawl token ann");
  return {
    by,
    ...(hours === undefined ? {} : { hours }),
    ...(rights === undefined ? {} : { rights }),
    ...(scopes.length === 0 ? {} : { scopes }),
  };
};

const write = (file: string, token: string): void => {
  try {
    writePrivate(file, `${token}\n`);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CliError("file_not_written", `${file}: ${why}`, { exit: exit.unreachable });
  }
};

export const tokenCommand: Command = {
  name: "token",
  summary: "Make a token for a host",
  usage: "<name>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    journal: journalOption["journal"] as (typeof journalOption)[string],
    config: {
      type: "string",
      short: "c",
      value: "<file>",
      what: "The host's configuration, for its journal and secrets",
    },
    scope: { type: "strings", value: "<prefix>", what: "Prefix of scope names (session:); may be repeated" },
    right: { type: "strings", value: "<right>", what: `Rights, separated by commas (${defaultRights.join(",")})` },
    hours: { type: "string", value: "<n>", what: `Hours until it expires (${dayHours})` },
    output: { type: "string", short: "o", value: "<file>", what: "Write it to a file that only you can read" },
  },
  detail:
    "Logs record the name as the principal. The token is signed with the host's newest secret: the file that its\nconfiguration names, or the one beside its journal. The only way to revoke it early is to remove that secret.",
  json: [{ what: "The token", fields: "token?, file?, by, scopes, rights, expires_at" }],
  examples: [
    ["pawl token ann -j journal.db", "for all sessions, valid for a day"],
    [
      "pawl token app -j journal.db --scope session:team-1/ --right call,observe --hours 720",
      "fewer rights, for a month",
    ],
    ["pawl token mover -c pawl.json --right move -o peer.token", "for a host that moves sessions here"],
  ],
  run: async (input: Input, terminal: Terminal) => {
    const request = requestIn(input);
    const config = input.text("config") === undefined ? {} : configOf(input.text("config"));
    const journal =
      input.text("journal") ?? config.journal ?? (config.secrets === undefined ? journalOf(input, terminal) : "");
    const { token, claims } = tokenFor(await knownSecretsOf(journal, config.secrets), request, terminal.now());
    const file = input.text("output");
    if (file !== undefined) write(file, token);
    const said = file === undefined ? { token } : { file };
    terminal.print({ ...said, ...claims }, () =>
      file === undefined
        ? [token]
        : [`${file}: a token for ${claims.by}, valid until ${new Date(claims.expires_at).toISOString()}`],
    );
    return exit.fine;
  },
};

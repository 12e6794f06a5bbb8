/** Asks the live host that owns a scope, instead of writing to its journal. */
import { Client, HostRefused, type SessionClient } from "@pawl/wire";
import { closeCodes } from "@pawl/wire/frame";
import type { Input, Options } from "../command.ts";
import { CliError, type Exit, exit, usageError } from "../exit.ts";
import { scopeNamed, type LogSource, placeOf, withLog } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { EventCodec, headerLine, initial, write } from "@pawl/sansio-core";
import { headerBefore } from "@pawl/sansio-core/driver";
import { describe, readOwned } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** Reads the log up to its end at the time of asking. Digests are not sent, so they are computed here. */
const linesAt = async (session: SessionClient): Promise<readonly string[]> => {
  const { scope } = session;
  const end = await session.open();
  const lines: string[] = [];
  let state = initial(scope);
  if (end === 0) return [headerLine(headerBefore(scope))];
  const wrong = (cursor: number, code: string, what: string): CliError =>
    new CliError(code, `event ${cursor} of ${scope} ${what}`, {
      exit: exit.wrong,
      hint: "does the host run another version of pawl?",
    });
  for await (const { cursor, at, event: json } of session.observe()) {
    const read = readOwned(EventCodec, json);
    if (E.isLeft(read)) throw wrong(cursor, read.left.code, `cannot be read: ${describe(read.left)}`);
    const event = read.right;
    const written = write(state, { seq: cursor, at, event });
    if (E.isLeft(written)) throw wrong(cursor, written.left.code, `is rejected: ${written.left.message}`);
    if (state.seq === 0) lines.push(headerLine(headerBefore(scope, event)));
    state = written.right.state;
    lines.push(written.right.line);
    if (cursor >= end) break;
  }
  return lines;
};

/** Opens a log as `withLog` does, or reads it from the host that `--host` names. */
export const withLogOrHost = async <A>(
  input: Input,
  terminal: Terminal,
  use: (log: LogSource) => Promise<A>,
): Promise<A> => {
  const asked = await askHost(input, terminal, linesAt);
  if (asked === undefined) return withLog(placeOf(input.positionals[0] ?? "", input, terminal), use);
  const { answer, scope } = asked;
  const host = input.text("host");
  return use({ name: scope, text: async () => answer, ...(host !== undefined && { host }) });
};

export const hostOptions: Options = {
  host: { type: "string", value: "<url>", what: "Ask the host that owns the scope, instead of the journal" },
  token: { type: "string", value: "<token>", what: "The host's token; or set PAWL_TOKEN" },
};

const defaultPatienceMs = 10_000;
/** After this long without a connection a note is printed: a host that is up answers sooner. */
const silentMs = 1000;

const hintOf = (url: string): string =>
  url.startsWith("wss:")
    ? "is it running and reachable? for your own certificate set NODE_EXTRA_CA_CERTS=<its CA, as PEM>"
    : "is it running and reachable? a host with TLS has a wss:// address";

const schemes: readonly string[] = ["ws:", "wss:", "http:", "https:"];

const isHostUrl = (text: string): boolean => URL.canParse(text) && schemes.includes(new URL(text).protocol);

/** Gives up after `patienceMs`. The client itself would retry for ever. */
const inTime = async <A>(url: string, patienceMs: number, work: Promise<A>): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `the host at ${url} does not answer`;
    const error = new CliError("unreachable", message, {
      exit: exit.unreachable,
      hint: hintOf(url),
    });
    timer = setTimeout(() => reject(error), patienceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Codes that are about the connection, not about the scope. */
const unreachable: ReadonlySet<string> = new Set([
  ...Object.keys(closeCodes),
  "connection_refused",
  "permission_denied",
]);

/** Strips a journal's name from the argument: a host has only one journal. */
const scopeIn = (argument: string): string =>
  scopeNamed(/^(?:session|process):/.test(argument) ? argument : argument.slice(argument.indexOf("#") + 1));

/** Asks the host that `--host` names. Returns undefined without `--host`. */
export const askHost = async <A>(
  input: Input,
  terminal: Terminal,
  work: (session: SessionClient) => Promise<A>,
  patienceMs = defaultPatienceMs,
): Promise<{ readonly answer: A; readonly scope: string } | undefined> => {
  const url = input.text("host");
  if (url === undefined) return undefined;
  if (!isHostUrl(url))
    throw usageError(`--host expects the address of a host, as ws://127.0.0.1:7777, found \`${url}\``);
  const token = input.text("token") ?? terminal.env["PAWL_TOKEN"] ?? "";
  if (token === "") throw usageError("a host needs a token", "add --token <token>, or set PAWL_TOKEN");
  if (input.text("by") !== undefined)
    throw usageError("--by cannot be used with --host: the host records the token's name", "leave out --by");
  const scope = scopeIn(input.positionals[0] ?? "");
  if (!scope.startsWith("session:")) throw usageError(`a host serves only sessions, found ${scope}`);
  const client = new Client({ url, token });
  const trying = setTimeout(() => {
    if (!client.isConnected)
      terminal.note(`the host at ${url} has not answered yet; retrying for ${patienceMs / 1000} s`);
  }, silentMs);
  try {
    return { answer: await inTime(url, patienceMs, work(client.session(scope.slice("session:".length)))), scope };
  } catch (thrown) {
    if (!(thrown instanceof HostRefused)) throw thrown;
    const ends = unreachable.has(thrown.code) ? exit.unreachable : exit.refused;
    throw new CliError(thrown.code, thrown.message, { exit: ends });
  } finally {
    clearTimeout(trying);
    client.close();
  }
};

/** Prints that the host has done it. */
export const printDone = (terminal: Terminal, scope: string, done: string): Exit => {
  terminal.print({ scope, done: true }, () => [terminal.paint("green", done)]);
  return exit.fine;
};

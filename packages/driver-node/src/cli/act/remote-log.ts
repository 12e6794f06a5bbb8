/** The log of a session as the host tells it that owns it. */
import { currentFormat, currentProtocol, headerLine, initial, write } from "@pawl/sansio-core";
import type { SessionClient } from "@pawl/wire";
import * as E from "fp-ts/lib/Either.js";
import type { Input } from "../command.ts";
import { CliError, exit } from "../exit.ts";
import { type LogSource, placeOf, withLog } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { askHost } from "./remote.ts";

/** The lines up to where the log ended when it was asked for; digests do not travel, and are made here. */
const linesAt = async (session: SessionClient): Promise<readonly string[]> => {
  const { scope } = session;
  const end = await session.open();
  const header = { format: currentFormat, protocol: currentProtocol, scope, epoch: 1, writer: "pawl", base: 0 };
  const lines = [headerLine(header)];
  let state = initial(scope);
  if (end === 0) return lines;
  for await (const { cursor, at, event } of session.observe()) {
    const written = write(state, { seq: cursor, at, event });
    if (E.isLeft(written)) {
      const message = `event ${cursor} of ${scope} does not fit: ${written.left.message}`;
      throw new CliError(written.left.code, message, { exit: exit.wrong, hint: "is the host of another version?" });
    }
    state = written.right.state;
    lines.push(written.right.line);
    if (cursor >= end) break;
  }
  return lines;
};

/** As `withLog`; of a host, where one is named. */
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

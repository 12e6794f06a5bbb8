/** Writes a log into a journal, as a scope that is not there yet; where it is, `whereTaken` says what to do. */
import { randomUUID } from "node:crypto";
import { type Journal, Refused, type SteppedLine, putLog } from "@pawl/runtime";
import type { State } from "@pawl/sansio-core";
import { CliError, exit } from "../exit.ts";

export const put = async (
  journal: Journal,
  stepped: readonly SteppedLine[],
  state: State,
  whereTaken: string,
): Promise<void> => {
  try {
    await putLog(journal, `pawl:${process.pid}:${randomUUID()}`, stepped, state);
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    const { code, message } = thrown;
    if (code !== "scope_exists") throw new CliError(code, message, { exit: exit.unreachable });
    throw new CliError(code, message, { exit: exit.refused, hint: whereTaken });
  }
};

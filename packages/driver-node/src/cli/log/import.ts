/** `pawl log import`: logs in JSON Lines as scopes of a journal. */
import { BlobMissing, type Journal, type SteppedLine, leftBehind, linesIn, unpackBlobs } from "@pawl/runtime";
import { type PackedBlob, eventLine } from "@pawl/sansio-core";
import { hashText } from "@pawl/tool-value";
import { sqliteJournal } from "../../sqlite/journal.ts";
import { type Command, journalOption } from "../command.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import { underKeys } from "../journal-file.ts";
import { type LogSource, besideOf, journalOf, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { faultWords, tornJson, tornWords } from "./fault.ts";
import { put } from "./put.ts";
import { refuseSealed } from "./sealed.ts";
import { replayLog } from "./replaying.ts";

/** All that the log names has to be with it. */
const takeBlobs = async (
  journal: Journal,
  scope: string,
  stepped: readonly SteppedLine[],
  blobs: readonly PackedBlob[],
): Promise<void> => {
  try {
    const missing = leftBehind(
      stepped.map(({ line }) => line),
      blobs,
    );
    if (missing !== undefined) throw new BlobMissing("blob_missing", scope, missing);
    await unpackBlobs(journal.blobs, scope, blobs, hashText);
  } catch (thrown) {
    if (!(thrown instanceof BlobMissing)) throw thrown;
    const hint = "export the log again where it came from";
    throw new CliError(thrown.code, `${scope} is not imported: ${thrown.message}`, { exit: exit.wrong, hint });
  }
};

const importLog = async (log: LogSource, journal: Journal, terminal: Terminal): Promise<void> => {
  const sealed = `${log.name} is not imported: its values are sealed`;
  refuseSealed(linesIn(await log.text()), sealed, exit.refused, "export it again with --keys");
  const stepped: SteppedLine[] = [];
  const blobs: PackedBlob[] = [];
  const { state, fault, torn, header } = await replayLog(log, terminal, {
    onBlob: (packed) => void blobs.push(packed),
    onStep: (recorded, { finished }) => void stepped.push({ seq: recorded.seq, line: eventLine(recorded), finished }),
  });
  if (fault !== undefined) {
    const [head = ""] = faultWords(fault, terminal);
    throw new CliError(fault.code, `${log.name} is not imported: ${head}`, {
      exit: exit.wrong,
      hint: `pawl log replay ${log.name}`,
    });
  }
  if (header !== undefined && header.base > 0) {
    const message = `${log.name} goes on from event ${header.base}: only whole logs are imported`;
    throw new CliError("not_whole", message, { exit: exit.refused, hint: "copy the journal file instead" });
  }
  if (state === undefined || stepped.length === 0) {
    throw new CliError("log_empty", `${log.name} has no events`, { exit: exit.wrong });
  }
  const { id: scope } = state.scope;
  await takeBlobs(journal, scope, stepped, blobs);
  await put(journal, stepped, state, "import it into another journal, or compare them: pawl help log diff");
  terminal.tell({ log: log.name, scope, events: stepped.length, torn: tornJson(torn) }, () => [
    `${log.name} -> ${scope} (${stepped.length} events)`,
    ...(torn === undefined ? [] : [terminal.paint("yellow", `  left out: ${tornWords(torn)}`)]),
  ]);
};

export const logImport: Command = {
  name: "log import",
  summary: "Import logs into a journal, each as the scope that it is of",
  usage: "<file…>",
  least: 1,
  most: Infinity,
  options: journalOption,
  detail:
    "A log is verified first, and taken as a whole or not at all. A scope that is there already is left alone. The\njournal is made where there is none.",
  json: [{ what: "Each log", fields: "log, scope, events, torn?" }],
  examples: [["pawl log import alice.jsonl -j journal.db", "one log"]],
  run: async (input, terminal): Promise<Exit> => {
    const { keys, blobs } = besideOf(input, terminal);
    const stored = sqliteJournal(journalOf(input, terminal), blobs === undefined ? {} : { blobs });
    const journal = underKeys(stored, keys);
    try {
      const places = input.positionals.map((file) => ({ file }));
      return await withLogs(places, async (logs) => {
        for (const log of logs) await importLog(log, journal, terminal);
        return exit.fine;
      });
    } finally {
      await stored.close();
    }
  },
};

/** `pawl log import`: reads logs in JSON Lines into a journal. */
import { type AttachmentStore, type Journal, Refused } from "@pawl/runtime";
import { BlobMissing, type SteppedLine, keepAttachments, leftBehind, unpackBlobs, putLog } from "@pawl/runtime/driver";
import { eventLine, type State } from "@pawl/sansio-core";
import { type PackedAttachment, type PackedBlob, linesIn } from "@pawl/sansio-core/driver";
import { hashText } from "@pawl/tool-value";
import { diskAttachments, sqliteJournal } from "@pawl/driver-node/operator";
import { type Command, journalOption } from "../command.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import { underKeys } from "../journal-file.ts";
import { type LogSource, journalFolders, journalOf, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { faultWords, tornJson, tornWords } from "./fault.ts";
import { refuseSealed, replayLog } from "./replay-log.ts";
import { randomUUID } from "node:crypto";

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

/** Stores the log's large values; fails if one is missing. */
const storeBlobs = async (
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

/** Stores the log's attachments. A sealed journal has no store for them: their bytes would not be sealed. */
const storeAttachments = async (
  store: AttachmentStore | undefined,
  scope: string,
  attachments: readonly PackedAttachment[],
): Promise<void> => {
  try {
    await keepAttachments(store, scope, attachments);
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    const isSealed = store === undefined;
    const why = isSealed ? "it has attachments, which are not sealed" : thrown.message;
    const ends = { exit: thrown.code === "attachment_corrupt" ? exit.wrong : exit.refused };
    const hint = isSealed ? "export it without --attachments, and give the bytes to the host's own store" : undefined;
    throw new CliError(thrown.code, `${scope} is not imported: ${why}`, hint === undefined ? ends : { ...ends, hint });
  }
};

interface Into {
  readonly journal: Journal;
  readonly store: AttachmentStore | undefined;
}

const importLog = async (log: LogSource, { journal, store }: Into, terminal: Terminal): Promise<void> => {
  const sealed = `${log.name} is not imported: its values are sealed`;
  refuseSealed(linesIn(await log.text()), sealed, exit.refused, "export it again with --keys");
  const stepped: SteppedLine[] = [];
  const blobs: PackedBlob[] = [];
  const attachments: PackedAttachment[] = [];
  const { state, fault, torn, header } = await replayLog(log, terminal, {
    onBlob: (packed) => void blobs.push(packed),
    onAttachment: (packed) => void attachments.push(packed),
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
    const message = `${log.name} starts after event ${header.base}: only complete logs can be imported`;
    throw new CliError("not_whole", message, { exit: exit.refused, hint: "copy the journal file instead" });
  }
  if (state === undefined || stepped.length === 0) {
    throw new CliError("log_empty", `${log.name} has no events`, { exit: exit.wrong });
  }
  const { id: scope } = state.scope;
  await storeBlobs(journal, scope, stepped, blobs);
  await storeAttachments(store, scope, attachments);
  await put(journal, stepped, state, "import it into another journal, or compare them: pawl help log diff");
  const brought = attachments.length === 0 ? {} : { attachments: attachments.length };
  const plural = attachments.length === 1 ? "" : "s";
  const besides = attachments.length === 0 ? "" : `, ${attachments.length} attachment${plural}`;
  terminal.print({ log: log.name, scope, events: stepped.length, ...brought, torn: tornJson(torn) }, () => [
    `${log.name} -> ${scope} (${stepped.length} events${besides})`,
    ...(torn === undefined ? [] : [terminal.paint("yellow", `  left out: ${tornWords(torn)}`)]),
  ]);
};

export const logImport: Command = {
  name: "log import",
  summary: "Import logs into a journal, each as its own scope",
  usage: "<file…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: journalOption,
  detail:
    "A log is verified first and imported whole or not at all. An existing scope is not changed. The journal is created if\nit does not exist.",
  json: [{ what: "Each log", fields: "log, scope, events, attachments?, torn?" }],
  examples: [["pawl log import alice.jsonl -j journal.db", "one log"]],
  run: async (input, terminal): Promise<Exit> => {
    const { keys, blobs } = journalFolders(input, terminal);
    const into = journalOf(input, terminal);
    const stored = sqliteJournal(into, blobs === undefined ? {} : { blobs });
    const journal = underKeys(stored, keys);
    const store = keys === undefined ? diskAttachments(`${into}.attachments`) : undefined;
    try {
      const places = input.positionals.map((file) => ({ file }));
      return await withLogs(places, async (logs) => {
        for (const log of logs) await importLog(log, { journal, store }, terminal);
        return exit.fine;
      });
    } finally {
      await stored.close();
    }
  },
};

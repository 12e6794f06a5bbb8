/** `pawl log import`: reads logs into a journal, from JSON Lines or from another journal. */
import { type AttachmentStore, type Journal, Refused } from "@pawl/runtime";
import {
  BlobMissing,
  type BesidesLines,
  type SteppedLine,
  besidesLines,
  keepAttachments,
  leftBehind,
  unpackBlobs,
  putLog,
} from "@pawl/runtime/driver";
import { eventLine, type State } from "@pawl/sansio-core";
import { type PackedAttachment, type PackedBlob, linesIn } from "@pawl/sansio-core/driver";
import { hashText } from "@pawl/tool-value";
import { type Command, journalOption } from "../command.ts";
import { keepRoots } from "@pawl/driver-node/operator";
import { isDatabase, withDatabase } from "../database.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import { isJournal, openJournalFile } from "../journal-file.ts";
import { type LogSource, type Place, journalFolders, journalOf, placeIn, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { faultWords, tornJson, tornWords } from "./fault.ts";
import { refuseSealed, replayLog } from "./replay-log.ts";
import { randomUUID } from "node:crypto";

export const put = async (
  journal: Journal,
  log: { readonly stepped: readonly SteppedLine[]; readonly state: State; readonly besides?: BesidesLines | undefined },
  whereTaken: string,
): Promise<void> => {
  try {
    await putLog(journal, `pawl:${process.pid}:${randomUUID()}`, log);
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
  texts: readonly string[],
  blobs: readonly PackedBlob[],
): Promise<void> => {
  try {
    const missing = leftBehind(texts, blobs);
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
  const along = log.journal && { attachments: log.journal.attachments };
  const whole = along && log.textAlong ? { ...log, text: () => log.textAlong?.(along) ?? log.text() } : log;
  refuseSealed(linesIn(await log.text()), sealed, exit.refused, "export it again with --keys");
  const stepped: SteppedLine[] = [];
  const blobs: PackedBlob[] = [];
  const attachments: PackedAttachment[] = [];
  const { state, fault, torn, header } = await replayLog(whole, terminal, {
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
  if (state === undefined || (stepped.length === 0 && header?.base === 0)) {
    throw new CliError("log_empty", `${log.name} has no events`, { exit: exit.wrong });
  }
  const { id: scope } = state.scope;
  const besides = log.journal && (await besidesLines(log.journal.journal, scope));
  if (header !== undefined && header.base > 0 && besides === undefined) {
    const message = `${log.name} starts after event ${header.base}, and does not name the requests that were answered before`;
    throw new CliError("not_whole", message, {
      exit: exit.refused,
      hint: "import it from its journal: journal.db#alice",
    });
  }
  const { segment, kept = [] } = besides ?? {};
  const texts = [segment?.snapshot ?? "", ...[...kept, ...stepped].map(({ line }) => line)];
  await storeBlobs(journal, scope, texts, blobs);
  await storeAttachments(store, scope, attachments);
  await put(
    journal,
    { stepped, state, besides },
    "import it into another journal, or compare them: pawl help log diff",
  );
  const brought = attachments.length === 0 ? {} : { attachments: attachments.length };
  const plural = attachments.length === 1 ? "" : "s";
  const also = attachments.length === 0 ? "" : `, ${attachments.length} attachment${plural}`;
  terminal.print({ log: log.name, scope, events: stepped.length, ...brought, torn: tornJson(torn) }, () => [
    `${log.name} -> ${scope} (${stepped.length} events${also})`,
    ...(torn === undefined ? [] : [terminal.paint("yellow", `  left out: ${tornWords(torn)}`)]),
  ]);
};

/** Lets the wait tokens of journals that are imported stay good: the journal takes over the secrets that signed them. */
const adoptRoots = async (into: string, logs: readonly LogSource[]): Promise<void> => {
  const sources = new Set(logs.flatMap(({ journal }) => (journal === undefined ? [] : [journal])));
  const found = [...sources].flatMap((journal) => journal.roots() ?? []);
  if (found.length === 0) return;
  if (!isDatabase(into)) {
    for (const roots of found) keepRoots(into, roots);
    return;
  }
  await withDatabase(into, {}, async (database) => {
    for (const roots of found) await database.adoptRoots(roots);
  });
};

export const logImport: Command = {
  name: "log import",
  summary: "Import logs into a journal, each as its own scope",
  usage: "<log…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: journalOption,
  detail:
    "A log is verified first and imported whole or not at all. An existing scope is not changed. A journal file is created if\nit does not exist. A log may be a file of JSON Lines, a journal, or a scope of one. Stop all hosts of a journal before you\nimport it into another: its work goes on there, and must not go on in both.",
  json: [{ what: "Each log", fields: "log, scope, events, attachments?, torn?" }],
  examples: [
    ["pawl log import alice.jsonl -j journal.db", "one log"],
    ["pawl log import journal.db -j postgres://db.internal/app", "all scopes of a file into a database"],
    ["pawl log import postgres://db.internal/app#alice -j alice.db", "one scope of a database into a file"],
  ],
  run: async (input, terminal): Promise<Exit> => {
    const folders = journalFolders(input, terminal);
    const name = journalOf(input, terminal);
    const { journal, attachments, close } = await openJournalFile(name, folders, { creates: true });
    const store = folders.keys === undefined ? attachments : undefined;
    const sourceOf = (argument: string): Place => {
      const place = placeIn(argument);
      return isJournal(place.file) && folders.keys !== undefined ? { ...place, keys: folders.keys } : place;
    };
    try {
      return await withLogs(input.positionals.map(sourceOf), async (logs) => {
        await adoptRoots(name, logs);
        for (const log of logs) await importLog(log, { journal, store }, terminal);
        return exit.fine;
      });
    } finally {
      await close();
    }
  },
};

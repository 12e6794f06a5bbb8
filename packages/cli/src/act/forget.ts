/** `pawl forget`: deletes a scope's key, so that nobody can read its values again (crypto-shredding). */
import { SealedError } from "@pawl/runtime/driver";
import { fileKeys } from "@pawl/driver-node/operator";
import { type Command, journalOption } from "../command.ts";
import { shownJournal } from "../database.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { openJournalFile } from "../journal-file.ts";
import { type Place, placeOf } from "../place.ts";

const checkExists = async (name: string, scope: string): Promise<void> => {
  const journal = await openJournalFile(name);
  const { file } = journal;
  try {
    if ((await journal.scopes(scope)).some((entry) => entry.scope === scope)) return;
  } finally {
    await journal.close();
  }
  const message = `there is no scope ${scope} in ${file}`;
  throw new CliError("no_such_scope", message, { exit: exit.unreachable, hint: `pawl ls --journal ${file}` });
};

/** Tells whether the key still exists. A scope without a key was never sealed. */
const hasKey = async (keys: string, scope: string): Promise<boolean> => {
  try {
    await fileKeys(keys).opening(scope);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof SealedError)) throw thrown;
    if (thrown.code === "key_gone") return false;
    const hint = "its values are not sealed, or its key is in another folder: name it with --keys";
    throw new CliError(thrown.code, `there is no key of ${scope} in ${keys}`, { exit: exit.refused, hint });
  }
};

const requireTarget = ({ file, scope, keys }: Place): { readonly scope: string; readonly keys: string } => {
  const shown = shownJournal(file);
  if (scope === undefined) throw usageError(`no scope is named in ${shown}`, `write ${shown}#session:alice`);
  if (keys === undefined) throw usageError("no keys are named", "add --keys <folder>, or set PAWL_KEYS");
  return { scope, keys };
};

export const forgetCommand: Command = {
  name: "forget",
  summary: "Delete the key of a scope, so that its values can never be read again",
  usage: "<scope>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    journal: journalOption["journal"] as (typeof journalOption)[string],
    keys: journalOption["keys"] as (typeof journalOption)[string],
    "for-ever": { type: "boolean", what: "Confirm: without this nothing is deleted" },
  },
  detail:
    "Its values become unreadable in the journal, in blobs, in backups, and in exports made without keys. Values that it\nsent to other scopes stay readable there. A background run is a scope of its own (pawl ls --prefix process:). A\nrunning host may use a cached key for up to ten seconds.",
  json: [{ what: "The scope", fields: "scope, keys, forgotten" }],
  examples: [["pawl forget alice -j journal.db --keys keys --for-ever", "at the request of a user"]],
  run: async (input, terminal) => {
    const place = placeOf(input.positionals[0] ?? "", input, terminal);
    const { scope, keys } = requireTarget(place);
    await checkExists(place.file, scope);
    if ((await hasKey(keys, scope)) && !input.isSet("for-ever")) {
      const message = `nothing was deleted: what ${scope} has stored could never be read again`;
      const hint = `pawl forget ${shownJournal(place.file)}#${scope} --keys ${keys} --for-ever`;
      throw new CliError("not_confirmed", message, { exit: exit.refused, hint });
    }
    await fileKeys(keys).remove(scope);
    terminal.print({ scope, keys, forgotten: true }, () => [`${scope} is forgotten: its key is deleted`]);
    return exit.fine;
  },
};

/** Command lines that would move a waiting call on. */
import type { CallReason } from "@pawl/sansio-core/driver";
import type { JournalFolders } from "../journal-file.ts";
import { shellWord } from "../escape.ts";

/** Puts names that start with `-` behind `--`. */
const commandLine = (verb: string, names: readonly string[], options: string): string => {
  const words = names.map(shellWord).join(" ");
  const isMistakable = names.some((name) => name.startsWith("-"));
  return isMistakable ? `pawl ${verb}${options} -- ${words}` : `pawl ${verb} ${words}${options}`;
};

/** The scope as the command line takes it, or its name at the host that owns it. */
export interface Changed {
  readonly scope: string;
  readonly host?: string;
  /** Folders that the command has to repeat. */
  readonly beside?: JournalFolders;
}

const endOf = ({ host, beside = {} }: Changed): string =>
  Object.entries(host === undefined ? beside : { host })
    .map(([name, value]) => ` --${name} ${shellWord(value)}`)
    .join("");

/**
 * Returns the command lines that would move a call on. Hosts resolve no unknown outcomes, so none is proposed for them.
 */
export const remedies = (at: Changed, { call, what }: CallReason): readonly string[] => {
  const { scope, host } = at;
  const end = endOf(at);
  const line = (verb: string, whom: string, more = ""): string => commandLine(verb, [scope, whom], `${more}${end}`);
  const resolved = (key: string): string => line("resolve", key, " --ok '<json>'");
  if (what.type === "approval") {
    const hash = ` --hash ${what.argsHash}`;
    return [line("approve", call, hash), line("reject", call, hash)];
  }
  if (what.type === "resolver") {
    const words = what.cause === "diverged" ? ["run-again", "release"] : ["run-again"];
    const decided = host === undefined ? words.map((word) => line("resolve", call, ` --outcome ${word}`)) : [];
    return [...decided, line("cancel", call)];
  }
  if (what.type === "completion") return [resolved(what.key)];
  if (!("effects" in what)) return [];
  return what.effects.flatMap(({ what: on }) => (on.kind === "wait" ? [resolved(on.wait)] : []));
};

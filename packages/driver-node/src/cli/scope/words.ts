/** What a person could do about a call that waits. */
import type { CallReason } from "@pawl/sansio-core";
import { shellWord } from "../spelling.ts";

/** Names that begin like options stand behind all of these, and are none. */
const commandLine = (verb: string, names: readonly string[], options: string): string => {
  const words = names.map(shellWord).join(" ");
  const isMistakable = names.some((name) => name.startsWith("-"));
  return isMistakable ? `pawl ${verb}${options} -- ${words}` : `pawl ${verb} ${words}${options}`;
};

/**
 * What a person could type to make a call go on. `scope`: as the command line takes it, or as the host knows it, where
 * one is asked; a host resolves no outcomes.
 */
export const remedies = (scope: string, host: string | undefined, { call, what }: CallReason): readonly string[] => {
  const end = host === undefined ? "" : ` --host ${shellWord(host)}`;
  const line = (verb: string, whom: string, more = ""): string => commandLine(verb, [scope, whom], `${more}${end}`);
  const resolved = (key: string): string => line("resolve", key, " --ok '<json>'");
  if (what.type === "approval") {
    const hash = ` --hash ${what.argsHash}`;
    return [line("approve", call, hash), line("reject", call, hash)];
  }
  if (what.type === "resolver") {
    const again = host === undefined ? [line("resolve", call, " --outcome run-again")] : [];
    return [...again, line("cancel", call)];
  }
  if (what.type === "completion") return [resolved(what.key)];
  if (!("effects" in what)) return [];
  return what.effects.flatMap(({ what: on }) => (on.kind === "wait" ? [resolved(on.wait)] : []));
};

/** What a person could do about a call that waits. */
import type { CallReason } from "@pawl/sansio-core";

const quoted = (text: string): string => (/^[\w@%+=:,./#-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/**
 * What a person could type to make a call go on. `scope`: as the command line takes it, or as the host knows it, where
 * one is asked; a host resolves no outcomes.
 */
export const remedies = (scope: string, host: string | undefined, { call, what }: CallReason): readonly string[] => {
  const end = host === undefined ? "" : ` --host ${quoted(host)}`;
  const line = (verb: string, whom: string, more = ""): string =>
    `pawl ${verb} ${quoted(scope)} ${quoted(whom)}${more}${end}`;
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

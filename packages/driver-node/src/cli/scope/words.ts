/** What a person could do about a call that waits. */
import type { CallReason } from "@pawl/sansio-core";

const quoted = (text: string): string => (/^[\w@%+=:,./#-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const resolveLine = (scope: string, key: string): string =>
  `pawl resolve ${quoted(scope)} ${quoted(key)} --ok '<json>'`;

/** What a person could type to make a call go on. `scope`: as the command line takes it. */
export const remedies = (scope: string, { call, what }: CallReason): readonly string[] => {
  const whom = `${quoted(scope)} ${quoted(call)}`;
  if (what.type === "approval") {
    const hash = `--hash ${what.argsHash}`;
    return [`pawl approve ${whom} ${hash}`, `pawl reject ${whom} ${hash}`];
  }
  if (what.type === "resolver") return [`pawl resolve ${whom} --outcome run-again`, `pawl cancel ${whom}`];
  if (what.type === "completion") return [resolveLine(scope, what.key)];
  if (!("effects" in what)) return [];
  return what.effects.flatMap(({ what: on }) => (on.kind === "wait" ? [resolveLine(scope, on.wait)] : []));
};

/** The sessions that a token covers, as prefixes of their names. */
import { Refused } from "@pawl/runtime";
import type { Claims } from "@pawl/wire/host";

const kind = "session:";

/** Returns the prefixes of sessions that a token covers, by name, without those that another one covers. */
export const prefixesOf = (claims: Claims | undefined, wanted = ""): readonly string[] => {
  const whole = `${kind}${wanted}`;
  const within = (claims?.scopes ?? []).flatMap((scope) => {
    if (whole.startsWith(scope)) return [whole];
    return scope.startsWith(whole) ? [scope] : [];
  });
  const ordered = [...new Set(within)].toSorted();
  const outer = ordered.filter((prefix, i) => !ordered.slice(0, i).some((shorter) => prefix.startsWith(shorter)));
  return outer.map((prefix) => prefix.slice(kind.length));
};

/** Refuses a token that covers no session of those that are asked for. */
export const refuseNone = (claims: Claims | undefined, prefixes: readonly string[]): readonly string[] => {
  if (prefixes.length > 0) return prefixes;
  throw new Refused("permission_denied", `\`${claims?.by ?? ""}\` has no right in sessions that begin so`);
};

/** Names of files for scopes: every file system takes them, and no two scopes have one, whatever who named them wanted. */
import { createHash } from "node:crypto";

const longest = 200;
const hashDigits = 16;

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[*'()!~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** A session's and a process's name keep their first words; in others `_` is no colon. */
const plainName = (scope: string): string => {
  const [, kind, id] = /^(session|process):(.*)$/s.exec(scope) ?? [];
  return kind === undefined || id === undefined ? encoded(scope).replaceAll("_", "%5F") : `${kind}_${encoded(id)}`;
};

/** For the scopes of one folder, in their order: what is too long, or differs in case alone, ends in a hash. */
export const fileNames = (): ((scope: string) => string) => {
  const taken = new Set<string>();
  return (scope) => {
    const plain = plainName(scope);
    const isOwn = plain.length <= longest && !taken.has(plain.toLowerCase());
    const hash = createHash("sha256").update(scope).digest("hex").slice(0, hashDigits);
    const name = isOwn ? plain : `${plain.slice(0, longest)}~${hash}`;
    taken.add(name.toLowerCase());
    return `${name}.jsonl`;
  };
};

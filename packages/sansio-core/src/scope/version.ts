/**
 * Versions of the code that runs tools. Whoever opens a scope, publishes tools or brings executors says which versions there
 * are; a call whose body one version cannot go on with waits for another.
 */
import { type Codec, codecFrom, dict, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Draft } from "../kernel/draft.ts";

/** Versions by the id of the tool: `*` is that of all tools that are not named, and null says that nobody here runs it. */
export type Versions = { readonly [tool: string]: string | null };

const VersionCodec: Codec<string | null> = codecFrom<string | null>(
  "a version or null",
  (u): u is string | null => u === null || string.is(u),
  (u, c) => (u === null ? E.right(null) : string.validate(u, c)),
);

export const VersionsCodec: Codec<Versions> = dict(VersionCodec);

/** Returns the version of a tool that is here, if there is one and it is known. */
export const versionIn = (versions: Versions | undefined, tool: string): string | undefined => {
  if (versions === undefined) return undefined;
  return (Object.hasOwn(versions, tool) ? versions[tool] : versions["*"]) ?? undefined;
};

const unnamedMark = "text:";

/**
 * Makes the version of a tool that nobody gave one: the hash of its function's text, and the start of its process. A text
 * does not tell all that its function calls, so each start counts as another version.
 */
export const unnamedVersion = (textHash: string, start: string): string => `${unnamedMark}${textHash}@${start}`;

/** Returns what two versions have in common if they are of the same code: of one without a name, the text alone. */
export const codeOf = (version: string): string =>
  version.startsWith(unnamedMark) ? version.slice(0, version.indexOf("@")) : version;

/** Takes note of the versions that there are now. */
export const setVersions = (draft: Draft, versions: Versions | undefined): void => {
  if (versions === undefined) return;
  draft.setScope({ ...draft.scope, versions });
  draft.raise({ type: "versions.changed" });
};

/** Takes note of the versions of some tools, beside those that there are. */
export const addVersions = (draft: Draft, versions: Versions | undefined): void =>
  setVersions(draft, versions && { ...draft.scope.versions, ...versions });

/**
 * A scope: one state machine with one ordered log, and one writer at a time.
 *
 *   (nothing) ─▶ open ─▶ moving ─▶ moved          (the source)
 *                 ▲        ├──▶ open, kept        (the source)
 *                 └────────┴──── received         (the target, on its copy of the log)
 *
 * Invariants
 *   S1  the epoch only grows
 *   S2  the protocol only grows, and only by a recorded upgrade
 *   S3  a scope that is moving or has moved accepts nothing but the end of its move
 *   S4  scope time never goes back
 *
 * An opening, a publication of tools and an executor each say which versions of the code that runs tools there are; a
 * call whose body one version cannot go on with waits for another.
 */
import type { Options } from "../kernel/options.ts";
import { type Codec, codecFrom, dict, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Draft } from "../kernel/draft.ts";

export type ScopeStatus =
  | { readonly type: "open" }
  /** `reopened`: claimed anew since; owners were lost then, which counts if the scope is kept. */
  | { readonly type: "moving"; readonly to: string; readonly nonce: string; readonly reopened: boolean }
  | { readonly type: "moved"; readonly to: string; readonly nonce: string };

export interface ScopeRow {
  readonly id: string;
  readonly epoch: number;
  readonly owner: string;
  readonly protocol: number;
  readonly options: Options;
  readonly status: ScopeStatus;
  /** Versions of the code that runs its tools, as far as they are known. */
  readonly versions?: Versions;
}

/** How an owner went: it gave up what it ran, or nobody knows (a crash, a lease that ran out). */
export type OwnerEnd = "released" | "lost";

/** A call that continued under protocol 1, which did not record the hash of the arguments that it has now. */
export interface ContinuedCall {
  readonly call: string;
  readonly args_hash: string;
}

export type ScopeEvent =
  | {
      readonly type: "scope.opened";
      readonly epoch: number;
      readonly owner: string;
      readonly protocol: number;
      readonly options: Options;
      /** How the owner before went, as the store knows; absent: it was lost. */
      readonly last_owner?: OwnerEnd;
      readonly versions?: Versions;
    }
  | { readonly type: "scope.configured"; readonly options: Options }
  | { readonly type: "scope.upgraded"; readonly to: number; readonly continued?: readonly ContinuedCall[] }
  | { readonly type: "scope.moving"; readonly to: string; readonly nonce: string }
  | {
      readonly type: "scope.received";
      readonly nonce: string;
      readonly epoch: number;
      readonly owner: string;
      readonly versions?: Versions;
    }
  | { readonly type: "scope.moved"; readonly nonce: string }
  | { readonly type: "scope.kept"; readonly nonce: string }
  /** `went`: an executor says farewell; without it the executor was lost. */
  | { readonly type: "owner.lost"; readonly owner: string; readonly went?: OwnerEnd }
  | { readonly type: "clock.ticked" };

/** Its rows in a state. */
export interface ScopeRows {
  readonly scope: ScopeRow;
}

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

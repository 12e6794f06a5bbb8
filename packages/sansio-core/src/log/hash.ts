/**
 * Hashes of a log and of its state; no step makes them. The chain over the appends of a log: each link is the SHA-256 of
 * the one before it and of the lines that were appended, so that its head vouches for all of them. A store keeps it as it
 * writes.
 */
import { hashText, stableHash } from "@pawl/tool-value";
import type { State } from "../kernel/vocabulary.ts";
import { snapshot } from "../snapshot/write.ts";

/** Before the first append, which is that of the header. */
export const chainStart = "0".repeat(64);

/**
 * Returns the text that is hashed for one append: the link before it, and its lines as they are stored, with their
 * line feeds.
 */
export const linkText = (previous: string, lines: string): string => `${previous}\n${lines}`;

/** Extends the hash chain of a scope by the lines of one append. */
export const chain = (previous: string, lines: readonly string[]): string =>
  hashText(linkText(previous, lines.join("")));

/** Hashes a state: equal states have equal hashes, however they came about. */
export const stateHash = (state: State): string => stableHash(snapshot(state));

/**
 * Ids of tasks, and the state that a client hands back with its answers. Both name a session and a request, with a MAC that
 * binds them to the principal: nobody can guess one, and nobody else can use it. Nothing is kept for them, so that they mean
 * the same after a restart, in another process of the store, and after the session has moved within it.
 */
import { hmac, utf8 } from "@pawl/tool-value";
import { base64Of, bytesOf, isSameText } from "./encoding.ts";

/** The kinds of token that a server signs: one is never taken for another. */
export type TokenKind = "task" | "state" | "attachment";

const partsIn = (text: string): readonly string[] | undefined => {
  try {
    const found: unknown = JSON.parse(new TextDecoder().decode(bytesOf(text)));
    return Array.isArray(found) && found.every((part) => typeof part === "string") ? found : undefined;
  } catch {
    return undefined; // No base64url, or no JSON: this server has not made it.
  }
};

export class SignedTokens {
  readonly #secrets: readonly Uint8Array[];

  /** Takes secrets, newest first: the first signs, all of them verify. */
  constructor(secrets: readonly Uint8Array[]) {
    this.#secrets = secrets;
  }

  #mac(secret: Uint8Array, kind: TokenKind, by: string, text: string): string {
    return base64Of(hmac(secret, utf8(JSON.stringify([kind, by, text]))));
  }

  sign(kind: TokenKind, by: string, parts: readonly string[]): string {
    const text = base64Of(utf8(JSON.stringify(parts)));
    return `${text}.${this.#mac(this.#secrets[0] as Uint8Array, kind, by, text)}`;
  }

  /** Returns the parts of a token that was signed for this principal; undefined for any other text. */
  read(kind: TokenKind, by: string, token: string): readonly string[] | undefined {
    const [text, mac, ...rest] = token.split(".");
    if (text === undefined || mac === undefined || rest.length > 0) return undefined;
    const isSigned = this.#secrets.some((secret) => isSameText(this.#mac(secret, kind, by, text), mac));
    return isSigned ? partsIn(text) : undefined;
  }
}

/** What a process of the tests is told to be, and what it says. */
export const records = ["scope.moving", "scope.received", "scope.moved"] as const;

/** Where a process waits to be killed, or to be told to go on. */
export interface Point {
  readonly record: (typeof records)[number];
  readonly when: "before" | "after";
}

export type Told =
  /** A host over its own file; on the port of the life before, where there was one. */
  | { readonly type: "host"; readonly file: string; readonly port: number; readonly point?: Point }
  /** A program that nobody can call, over its own file, with a connection to the host. */
  | { readonly type: "client"; readonly file: string; readonly url: string; readonly point?: Point }
  | { readonly type: "move"; readonly to: string }
  | { readonly type: "go" };

export type Said =
  | { readonly type: "loaded" }
  | { readonly type: "up"; readonly address: string }
  | { readonly type: "at_point" }
  | { readonly type: "moved"; readonly error?: string };

export const hostSecret = new Uint8Array(32).fill(9);
export const scope = "session:s";

/** Orders for a test process of a move, and its reports. */
export const records = ["scope.moving", "scope.received", "scope.moved"] as const;

/** A point at which a process waits to be killed or continued. */
export interface Point {
  readonly record: (typeof records)[number];
  readonly when: "before" | "after";
}

export type Told =
  /** A host over its own file, on the port of its former life. */
  | { readonly type: "host"; readonly file: string; readonly port: number; readonly point?: Point }
  /** A client that nobody can call, over its own file, connected to the host. */
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

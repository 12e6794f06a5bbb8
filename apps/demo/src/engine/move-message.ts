/** What a page and the worker that holds its end of a move say to each other. */
import type { Line } from "./message.ts";

export type ToMover =
  | { readonly type: "open"; readonly session: string; readonly url: string; readonly token: string }
  | { readonly type: "walk" | "move" | "follow" };

export type FromMover =
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  | { readonly type: "gone" }
  | { readonly type: "fault"; readonly message: string };

/** What a page and the worker that holds its end of a move say to each other. */
import type { Line } from "./message.ts";

export type ToMover =
  | {
      readonly type: "open";
      readonly session: string;
      readonly store: string;
      readonly url: string;
      readonly token: string;
    }
  | { readonly type: "walk" | "move" | "bringBack" | "follow" };

export type FromMover =
  /** This tab may write; until then another one does. */
  | { readonly type: "writing" }
  | { readonly type: "lines"; readonly lines: readonly Line[] }
  /** It has arrived at the host, or here again. */
  | { readonly type: "gone" | "back" }
  | { readonly type: "fault"; readonly message: string };

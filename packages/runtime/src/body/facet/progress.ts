/** What a body says while it runs: heard by observers, and recorded nowhere. */
import type { Asking } from "./asking.ts";

export interface ProgressMessage {
  readonly text: string;
  readonly kind: string;
}

export interface Progress {
  readonly progress: (message: ProgressMessage) => void;
}

/** Nothing after the body's end: it is nobody's word then. */
export const progress = ({ body, facts }: Asking): Progress => ({
  progress: (message) => {
    if (!body.isOver) facts.progress(message);
  },
});

/** A scene: one screen, with an engine behind it and its log in the inspector beside it. */
import type { PawlInspector } from "@pawl/inspector";

export interface Stage {
  /** Where the scene shows what it has to show. */
  readonly element: HTMLElement;
  readonly inspector: PawlInspector;
  /** Leaves the scene as it is, and begins it anew. */
  readonly again: () => void;
  readonly fault: (message: string) => void;
  /** Whether this tab runs what the scene shows, or watches another one that does. */
  readonly writes: (isWriter: boolean) => void;
}

export interface Scene {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly lede: string;
  /** Begins; what it gives back ends it. */
  readonly begin: (stage: Stage) => () => void;
}

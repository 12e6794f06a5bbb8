/** The interface of a scene: one screen with a real engine, and its log in the inspector beside it. */
import type { PawlInspector } from "@pawl/inspector";

export interface Stage {
  /** The element that the scene fills. */
  readonly element: HTMLElement;
  readonly inspector: PawlInspector;
  /** Leaves the scene and starts it again. */
  readonly again: () => void;
  readonly fault: (message: string) => void;
  /** Tells whether this tab runs the session of the scene, or watches another tab that does. */
  readonly writes: (isWriter: boolean) => void;
}

export interface Scene {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly lede: string;
  /** Begins the scene; returns a function that ends it. */
  readonly begin: (stage: Stage) => () => void;
}

/** The notice in a tab that does not run its scene: another tab does. The controls of the scene are inert meanwhile. */
import { el } from "@pawl/inspector/dom";

/** A tab that becomes the writer does so within this time. The notice waits for it. */
const graceMs = 700;

export class WriterNotice {
  readonly element = el(
    "p",
    { class: "watching", role: "status", hidden: true },
    "Another tab runs this scene. This tab watches, and takes over when the other one is closed.",
  );
  readonly #stage: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stage: HTMLElement) {
    this.#stage = stage;
  }

  writes(isWriter: boolean): void {
    clearTimeout(this.#timer);
    if (isWriter) this.#show(false);
    else this.#timer = setTimeout(() => this.#show(true), graceMs);
  }

  #show(isWatching: boolean): void {
    this.element.hidden = !isWatching;
    this.#stage.inert = isWatching;
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

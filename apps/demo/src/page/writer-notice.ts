/** One tab runs a scene; in every other the scene says that it only watches, and lets nobody press what would not work. */
import { el } from "@pawl/inspector/dom";

/** Whoever has begun runs soon after, unless somebody else does. */
const soonMs = 700;

export class Watching {
  readonly notice = el(
    "p",
    { class: "watching", role: "status", hidden: true },
    "Another tab runs this scene. This one watches, and takes over when that one is closed.",
  );
  readonly #stage: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stage: HTMLElement) {
    this.#stage = stage;
  }

  writes(isWriter: boolean): void {
    clearTimeout(this.#timer);
    if (isWriter) this.#show(false);
    else this.#timer = setTimeout(() => this.#show(true), soonMs);
  }

  #show(isWatching: boolean): void {
    this.notice.hidden = !isWatching;
    this.#stage.inert = isWatching;
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

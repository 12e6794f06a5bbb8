/** The keyboard shortcuts of the inspector. Text fields keep their keys. */
export interface Moves {
  readonly to: (seq: number) => void;
  readonly by: (events: number) => void;
  readonly play: () => void;
  readonly crash: () => void;
  readonly find: () => void;
  readonly zoom: (factor: number) => void;
  readonly help: () => void;
  /** Closes the help. */
  readonly leave: () => void;
}

/** The lines of the help. */
export const keyHelp: readonly (readonly [key: string, what: string])[] = [
  ["← →", "previous, next event"],
  ["Shift ← →", "ten events"],
  ["Home End", "first, last event"],
  ["Space", "play, pause"],
  ["C", "next crash or fault"],
  ["/", "search"],
  ["+ −", "zoom the timeline in, out"],
  ["?", "this help; Escape closes it"],
];

const takesText = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && target.type !== "range");

const takesSpace = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLButtonElement || (target instanceof HTMLElement && target.tagName === "SUMMARY");

const moveOf = ({ key, shiftKey }: KeyboardEvent, moves: Moves): (() => void) | undefined => {
  const far = shiftKey ? 10 : 1;
  switch (key) {
    case "ArrowLeft":
    case "ArrowUp":
      return () => moves.by(-far);
    case "ArrowRight":
    case "ArrowDown":
      return () => moves.by(far);
    case "PageUp":
      return () => moves.by(-10);
    case "PageDown":
      return () => moves.by(10);
    case "Home":
      return () => moves.to(1);
    case "End":
      return () => moves.to(Infinity);
    case " ":
      return moves.play;
    case "c":
    case "C":
      return moves.crash;
    case "/":
      return moves.find;
    case "+":
    case "=":
      return () => moves.zoom(1.3);
    case "-":
      return () => moves.zoom(1 / 1.3);
    case "?":
      return moves.help;
    case "Escape":
      return moves.leave;
    default:
      return undefined;
  }
};

/** Returns true for elements that scroll by the vertical keys. */
const scrolls = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLElement && (target.getAttribute("role") === "tabpanel" || target.tagName === "PRE");
const isVertical = (key: string): boolean => ["ArrowUp", "ArrowDown", "PageUp", "PageDown", " "].includes(key);

export const keys = (event: KeyboardEvent, moves: Moves): void => {
  const [target] = event.composedPath();
  if (takesText(target) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && takesSpace(target)) return;
  if (isVertical(event.key) && scrolls(target)) return;
  const move = moveOf(event, moves);
  if (move === undefined) return;
  event.preventDefault();
  move();
};

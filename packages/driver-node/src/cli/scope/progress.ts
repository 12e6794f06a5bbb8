/** How far a background run is, in one line. */
import type { Event, Progress } from "@pawl/sansio-core";

const width = 24;

const barOf = (current: number, total: number): string => {
  const part = Math.min(1, Math.max(0, current / total));
  const filled = Math.round(part * width);
  return `[${"#".repeat(filled)}${".".repeat(width - filled)}] ${Math.floor(part * 100)} %`;
};

const countOf = ({ current, total, unit = "" }: Progress): string =>
  [current, total]
    .filter((one) => one !== undefined)
    .join("/")
    .concat(unit === "" ? "" : ` ${unit}`);

export const progressWords = (progress: Progress, detail = ""): string => {
  const { current, total, label = "" } = progress;
  const bar = current !== undefined && total !== undefined && total > 0 ? barOf(current, total) : "";
  return [bar, countOf(progress), label, detail].filter((word) => word !== "").join("  ");
};

/** What an event says of a run: how far it is; nothing more of it, where it has ended; undefined, where it says nothing. */
export const progressIn = (event: Event): string | undefined => {
  if (event.type === "call.settled" || event.type === "artifacts.written") return "";
  if (event.type !== "run.reported" || event.progress === undefined) return undefined;
  return progressWords(event.progress, event.detail);
};

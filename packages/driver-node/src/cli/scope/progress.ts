/** How far a background run is, in one line. */
import type { Event, Progress } from "@pawl/sansio-core";

const width = 20;

/** A bar, if it is known how much there is to do, and what it counts. */
export const barOf = ({ current, total, unit = "", label }: Progress): string => {
  const counted = [current, total === undefined ? undefined : `/ ${total}`, unit].filter((part) => part !== undefined);
  const text = [label, counted.join(" ").trim()].filter((part) => part !== undefined && part !== "").join(": ");
  if (current === undefined || total === undefined || total <= 0) return text;
  const full = Math.round(Math.min(1, Math.max(0, current / total)) * width);
  return `[${"#".repeat(full)}${".".repeat(width - full)}] ${text}`;
};

/** What an event says of a run: how far it is; nothing more of it, where it has ended; undefined, where it says nothing. */
export const progressIn = (event: Event): string | undefined => {
  if (event.type === "call.settled" || event.type === "artifacts.written") return "";
  if (event.type !== "run.reported" || event.progress === undefined) return undefined;
  return [barOf(event.progress), event.detail].filter((word) => word !== undefined && word !== "").join("  ");
};

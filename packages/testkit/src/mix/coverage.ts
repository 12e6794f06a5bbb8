/** Which events were taken and which rejections given, over all that was simulated. */
import type { CommandType, EventType, RejectionCode } from "@pawl/sansio-core";

export class Coverage {
  readonly events = new Map<EventType, number>();
  readonly rejections = new Map<RejectionCode, number>();
  readonly commands = new Map<CommandType, number>();
  readonly faults = new Map<string, number>();

  took(type: EventType): void {
    count(this.events, type);
  }
  refused(code: RejectionCode): void {
    count(this.rejections, code);
  }
  issued(type: CommandType): void {
    count(this.commands, type);
  }
  befell(fault: string): void {
    count(this.faults, fault);
  }

  add(other: Coverage): void {
    merge(this.events, other.events);
    merge(this.rejections, other.rejections);
    merge(this.commands, other.commands);
    merge(this.faults, other.faults);
  }
}

const count = <K>(counts: Map<K, number>, key: K): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

const merge = <K>(into: Map<K, number>, from: ReadonlyMap<K, number>): void => {
  for (const [key, times] of from) into.set(key, (into.get(key) ?? 0) + times);
};

/** How much of a list was met, and what of it was not. */
export interface Covered {
  readonly met: number;
  readonly all: number;
  readonly missed: readonly string[];
}

export const coveredOf = (all: readonly string[], counts: ReadonlyMap<string, number>): Covered => {
  const missed = all.filter((name) => !counts.has(name));
  return { met: all.length - missed.length, all: all.length, missed };
};

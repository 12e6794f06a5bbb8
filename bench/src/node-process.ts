/** A process that measures a round of a figure when it is told the figure's name. */
import { rounds } from "./node-round.ts";

process.on("message", (name: string) => {
  const round = rounds[name];
  if (round === undefined) throw new Error(`no figure named ${name}`);
  void round().then((measurement) => process.send?.(measurement));
});

/** A process for figures: it measures a round of one whenever it is told its name. */
import { rounds } from "./node-round.ts";

process.on("message", (name: string) => {
  const round = rounds[name];
  if (round === undefined) throw new Error(`no figure named ${name}`);
  void round().then((measurement) => process.send?.(measurement));
});

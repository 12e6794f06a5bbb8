/** A process for one figure: it measures a round whenever it is asked to. */
import { rounds } from "./node-round.ts";

const round = rounds[process.argv[2] ?? ""];
if (round === undefined) throw new Error(`no figure named ${process.argv[2]}`);
process.on("message", () => void round().then((measurement) => process.send?.(measurement)));

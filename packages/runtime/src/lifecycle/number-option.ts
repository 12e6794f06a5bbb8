/** Options that are numbers, and the refusal of one that is wrong. */
import { Refused, shownOf } from "../error.ts";

export const refusedOption = (message: string): Refused => new Refused("invalid_option", message);

/** Makes the refusal of an option whose number is out of range. */
export const wrongNumber = (name: string, found: unknown, least = "from"): Refused =>
  refusedOption(`\`${name}\`: expected a number ${least} 0, found ${shownOf(found)}`);

/** Those that are said. */
export const admitNumbers = (at: string, of: object = {}): void => {
  for (const [name, found] of Object.entries(of))
    if (found !== undefined && !(typeof found === "number" && found >= 0)) throw wrongNumber(at + name, found);
};

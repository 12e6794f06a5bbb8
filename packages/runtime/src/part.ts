/**
 * Parts of the runtime that many pages never need. Here all are at hand. Bundlers for pages take `part-later.ts` in the
 * place of this file, as `package.json` tells them, and a page loads a part when it needs it first.
 */
import * as jsonSchema from "./json-schema.ts";
import { Part } from "./loading.ts";
import { Arrivals } from "./move-arrival.ts";
import { Departures } from "./move-departure.ts";
import * as storedState from "./stored-state.ts";

const atHand = <A>(part: A): Part<A> => new Part(async () => part, part);

export const jsonSchemas = atHand(jsonSchema);
export const storedStates = atHand(storedState);
export const travels = atHand({ Arrivals, Departures });

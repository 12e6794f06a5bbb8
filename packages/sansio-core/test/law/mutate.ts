/** Spoils JSON in one place: what a torn, edited or hostile snapshot may look like. */
import type { Json } from "@pawl/tool-value";
import type { Dice } from "../arbitrary/dice.ts";

type Path = readonly (string | number)[];

const placesOf = (json: Json, path: Path = []): readonly Path[] => {
  if (typeof json !== "object" || json === null) return [path];
  return [path, ...Object.entries(json).flatMap(([key, part]) => placesOf(part as Json, [...path, key]))];
};

const others = (json: Json): readonly Json[] => {
  switch (typeof json) {
    case "number":
      return [json + 1, Math.max(0, json - 1), 0, -1, 0.5, 10 ** 9];
    case "string":
      return [`${json}x`, "", "r2:c0", "running", "completed", "cancelling"];
    case "boolean":
      return [!json];
    default:
      return [null, [], {}, "x", 1];
  }
};

const spoiled = (dice: Dice, json: Json): Json => {
  if (Array.isArray(json) && json.length > 0 && dice.isUnder(70)) {
    const at = dice.below(json.length);
    return dice.isUnder(50) ? json.toSpliced(at, 1) : [...(json as readonly Json[]), json[at] as Json];
  }
  return dice.pick(others(json));
};

const changed = (json: Json, path: Path, dice: Dice): Json => {
  const [key, ...rest] = path;
  if (key === undefined) return spoiled(dice, json);
  if (Array.isArray(json))
    return (json as readonly Json[]).map((part, i) => (`${i}` === key ? changed(part, rest, dice) : part));
  const record = json as { readonly [key: string]: Json };
  if (rest.length === 0 && dice.isUnder(20))
    return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
  return { ...record, [key]: changed(record[key] as Json, rest, dice) };
};

export const mutated = (dice: Dice, json: Json): Json => {
  const rows = placesOf(json).filter(([first]) => first !== "tools" && first !== "scope");
  return changed(json, dice.pick(dice.isUnder(80) && rows.length > 0 ? rows : placesOf(json)), dice);
};

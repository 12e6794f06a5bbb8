/** Where two pieces of JSON differ: for each place what was expected there, and what was found. */
import type { Json, JsonObject, Path } from "@pawl/tool-value";

export interface Difference {
  readonly path: Path;
  /** Undefined: nothing stands there. */
  readonly expected: Json | undefined;
  readonly found: Json | undefined;
}

/** A place in both, on the way down; its path is only made where they differ. */
interface Place {
  readonly above: Place | undefined;
  readonly step: string | number;
  readonly expected: Json | undefined;
  readonly found: Json | undefined;
}

/** So many are told; the first ones tell the most. */
const most = 50;

const isContainer = (json: Json | undefined): json is readonly Json[] | JsonObject =>
  typeof json === "object" && json !== null;

const at = (json: object, step: string | number): Json | undefined =>
  Object.hasOwn(json, step) ? (json as JsonObject)[step] : undefined;

const stepsInto = (a: object, b: object): readonly (string | number)[] => {
  if (!Array.isArray(a) || !Array.isArray(b)) return [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return (a.length > b.length ? a : b).map((_, i) => i);
};

const pathOf = (place: Place): Path => {
  const path: (string | number)[] = [];
  for (let step = place; step.above !== undefined; step = step.above) path.push(step.step);
  return path.toReversed();
};

/** Depth first, in the order of what was expected; on a stack of its own, whatever the depth. */
export const differencesOf = (expected: Json, found: Json): readonly Difference[] => {
  const differences: Difference[] = [];
  const rest: Place[] = [{ above: undefined, step: "", expected, found }];
  for (let place = rest.pop(); place !== undefined && differences.length < most; place = rest.pop()) {
    const { expected: a, found: b } = place;
    if (a === b) continue;
    if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
      differences.push({ path: pathOf(place), expected: a, found: b });
      continue;
    }
    for (const step of stepsInto(a, b).toReversed()) {
      rest.push({ above: place, step, expected: at(a, step), found: at(b, step) });
    }
  }
  return differences;
};

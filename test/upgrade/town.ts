/** Towns: what the sessions of one entry of the corpus are asked to do, and under which options. A seed decides all of it. */
import type { FlowNode, Program } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";

export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = (seed ^ 0x5bf03635) | 0;
  }
  below(count: number): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % count;
  }
  isUnder(percent: number): boolean {
    return this.below(100) < percent;
  }
  pick<A>(all: readonly A[]): A {
    return all[this.below(all.length)] as A;
  }
}

interface Call {
  readonly id: string;
  readonly tool: string;
  readonly args: { readonly as: string } & { readonly [name: string]: Json };
}

/** Something that the outside does to a session once a time has come. `id` names it in the ledger. */
export type Act = { readonly id: string; readonly at: number; readonly session: string } & (
  | { readonly type: "call"; readonly request: string; readonly calls: readonly Call[]; readonly isLoose: boolean }
  | { readonly type: "flow"; readonly request: string; readonly program: Program }
  | { readonly type: "cancel"; readonly request: string }
  | { readonly type: "executor" }
  | { readonly type: "move" }
);

export interface TownOptions {
  readonly sealed: boolean;
  readonly snapshots: boolean;
  readonly retention: boolean;
  readonly hooks: boolean;
  readonly projection: boolean;
  readonly resolver: boolean;
  readonly concurrency: number | null;
}

export interface Town {
  readonly seed: number;
  readonly features: readonly Feature[];
  readonly options: TownOptions;
  readonly acts: readonly Act[];
}

/** The features that a town may have. Each is asked for in a request of its own. */
export const features = [
  "steps",
  "once",
  "waits",
  "deadlines",
  "sleeps",
  "selects",
  "batch",
  "nested approvals",
  "flaky",
  "months",
  "asks",
  "cleans",
  "large",
  "approvals",
  "edits",
  "prepared",
  "connects",
  "outside",
  "bound",
  "again",
  "client",
  "late client",
  "process",
  "stops",
  "engines",
  "handed",
  "spawns",
  "tasks",
  "plans",
  "flow",
  "move",
  "subscribes",
  "dated",
  "unheard",
  "guards",
  "agent",
  "consults",
] as const;
export type Feature = (typeof features)[number];

interface Place {
  readonly dice: Dice;
  readonly session: string;
  readonly request: string;
  readonly at: number;
}

const looseTools = new Set(["bound", "cleans"]);

const calling = ({ session, request, at }: Place, calls: readonly Omit<Call, "id">[]): Act => ({
  type: "call",
  id: `${session}/${request}`,
  at,
  session,
  request,
  calls: calls.map((call, i) => ({ id: `c${i}`, ...call })),
  isLoose: calls.some(({ tool }) => looseTools.has(tool)),
});

const one =
  (tool: string, of: (place: Place) => { readonly [name: string]: Json } = () => ({})) =>
  (place: Place) => {
    const as = `${place.session}-${place.request}`;
    return [calling(place, [{ tool, args: { as, ...of(place) } }])];
  };

const child = (as: string, id: string, tool: string, of: { readonly [name: string]: Json } = {}): Json => ({
  id,
  toolId: `tool:${tool}`,
  args: { as: `${as}-${id}`, ...of },
});

const asOf = ({ session, request }: Place): string => `${session}-${request}`;

const use = (as: string): FlowNode => ({
  node_type: "use_tool",
  tool_name: "prepared",
  argument: "",
  named_args: [{ name: "as", value: as, value_kind: "literal" }],
});

const flowOf = (as: string): Program => ({
  name: "Flow",
  backend: "stub",
  nodes: [
    { node_type: "parallel_block", branches: [[use(`${as}-1`)], [use(`${as}-2`)]] },
    { node_type: "lambda_data_apply", lambda_data_name: "shout", target: "x", output_type: "text" },
    use(`${as}-3`),
  ],
});

const makes: { readonly [F in Feature]: (place: Place) => readonly Act[] } = {
  steps: one("steps", ({ dice }) => ({ n: 2 + dice.below(3) })),
  once: one("once", ({ dice }) => ({ n: 1 + dice.below(3) })),
  waits: one("waits"),
  deadlines: one("waits", () => ({ ms: 240_000 })),
  sleeps: one("sleeps", ({ dice }) => ({ n: 2, ms: dice.pick([50, 3000, 20_000]) })),
  selects: one("selects"),
  batch: (place) => {
    const as = asOf(place);
    const inner = [child(as, "d0", "steps"), child(as, "d1", "again")];
    const calls = [child(as, "k0", "steps"), child(as, "k1", "nests", { calls: inner }), child(as, "k2", "waits")];
    return [calling(place, [{ tool: "nests", args: { as, calls } }])];
  },
  "nested approvals": (place) => {
    const as = asOf(place);
    const calls = [child(as, "k0", "pays"), child(as, "k1", "sleeps", { n: 1, ms: 2000 }), child(as, "k2", "pays")];
    return [calling(place, [{ tool: "nests", args: { as, calls } }])];
  },
  flaky: one("flaky", ({ dice }) => ({ n: 1 + dice.below(3) })),
  months: one("months", ({ dice }) => ({ n: 2 + dice.below(3) })),
  asks: one("asks"),
  cleans: (place) => {
    const id = `${place.session}/${place.request}/cancel`;
    const { session, request, at } = place;
    return [...one("cleans")(place), { type: "cancel", id, at: at + 2500, session, request }];
  },
  large: one("large"),
  approvals: (place) => {
    const as = asOf(place);
    return [
      calling(
        place,
        ["a", "b", "c"].map((name) => ({ tool: "pays", args: { as: `${as}-${name}` } })),
      ),
    ];
  },
  edits: (place) => [calling(place, [{ tool: "pays", args: { as: `${asOf(place)}-edit` } }])],
  prepared: (place) => {
    const as = asOf(place);
    return [
      calling(
        place,
        ["a", "b"].map((name) => ({ tool: "prepared", args: { as: `${as}-${name}` } })),
      ),
    ];
  },
  connects: one("connects"),
  outside: one("outside"),
  bound: one("bound"),
  again: one("again"),
  client: (place) => [{ type: "executor", id: "executor", at: 0, session: place.session }, ...one("client")(place)],
  "late client": (place) => [
    ...one("client")(place),
    { type: "executor", id: "executor", at: 4000, session: place.session },
  ],
  process: one("begins"),
  stops: one("stops"),
  engines: one("engines"),
  handed: (place) => {
    const as = asOf(place);
    const [a, b] = ["a", "b"].map((session) => ({ ...place, session }));
    return [
      calling(a as Place, [{ tool: "hands", args: { as } }]),
      calling(b as Place, [{ tool: "takes", args: { as } }]),
    ];
  },
  spawns: one("spawns"),
  tasks: one("tasks"),
  plans: one("plans"),
  flow: (place) => {
    const { session, request, at } = place;
    return [{ type: "flow", id: `${session}/${request}`, at, session, request, program: flowOf(asOf(place)) }];
  },
  subscribes: one("subscribes", ({ dice }) => ({ n: 2 + dice.below(2) })),
  dated: one("dated"),
  unheard: one("unheard"),
  guards: one("guards"),
  agent: one("agent", ({ dice }) => ({ n: 2 + dice.below(2) })),
  consults: one("consults"),
  move: (place) => [
    ...one("sleeps", () => ({ n: 1, ms: 9000 }))(place),
    { type: "move", id: `${place.session}/move`, at: place.at + 1500, session: place.session },
  ],
};

const optionsOf = (dice: Dice): TownOptions => {
  const retention = dice.isUnder(20);
  return {
    retention,
    snapshots: retention || dice.isUnder(30),
    sealed: dice.isUnder(14),
    hooks: dice.isUnder(25),
    projection: dice.isUnder(20),
    resolver: dice.isUnder(30),
    concurrency: dice.pick([null, null, 1, 2]),
  };
};

/** Makes the town of a seed. The first feature goes by the seed, so that each comes as often; the others by chance. */
export const townOf = (seed: number): Town => {
  const dice = new Dice(seed);
  const options = optionsOf(dice);
  const others = Array.from({ length: 1 + dice.below(3) + (options.retention ? 4 : 0) }, () => dice.pick(features));
  const chosen = [...new Set([features[seed % features.length] as Feature, ...others])];
  const acts = chosen.flatMap((feature, i) => {
    const session = feature === "handed" || options.retention ? "a" : dice.pick(["a", "a", "b"]);
    return makes[feature]({ dice, session, request: `r${i}`, at: dice.pick([0, 0, 300]) });
  });
  const isFirst = ({ id }: Act, i: number): boolean => acts.findIndex((act) => act.id === id) === i;
  return { seed, features: chosen, options, acts: acts.filter(isFirst) };
};

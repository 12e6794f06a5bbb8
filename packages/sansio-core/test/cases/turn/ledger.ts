/** The ops `turn.budget` and `turn.control`: the ledger of one session and one running turn, and the controls of a batch. */
import { knownFields, knownName, withFields } from "@pawl/testkit";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Amounts, Limits } from "../../../src/kernel/limit.ts";
import {
  type Grant,
  type Level,
  type Price,
  type Usage,
  type Used,
  added,
  charge,
  chargedOf,
  grantOf,
  outputCap,
  raised,
  raisedGrant,
  reachedIn,
  reservedBy,
  verdictOn,
} from "../../../src/turn/budget.ts";
import { decideControls } from "../../../src/turn/control.ts";
import { defaultOptions } from "../../../src/index.ts";
import { type Input, listOf, objectOf, textOf } from "../input.ts";
import { jsonOf, outputOf } from "./world.ts";

type Step = readonly [name: string, ...rest: readonly Json[]];

class Ledger {
  readonly #prices: { readonly [model: string]: Price };
  #limits: { readonly turn: Limits; readonly session: Limits };
  #turn: Used = {};
  #before: Used = {};
  #grants: readonly Grant[] = [];
  #number = 1;

  constructor(input: Input) {
    this.#prices = objectOf(input["prices"]) as unknown as { readonly [model: string]: Price };
    const { turn = {}, session = {} } = objectOf(input["limits"]);
    this.#limits = { turn: turn as Limits, session: session as Limits };
  }

  get #name(): string {
    return `t${this.#number}`;
  }

  get #levels(): readonly Level[] {
    const { turn, session } = this.#limits;
    return [
      { of: "turn", limits: turn, used: this.#turn, reserved: reservedBy(this.#grants, this.#name) },
      { of: "session", limits: session, used: added(this.#before, this.#turn), reserved: reservedBy(this.#grants) },
    ];
  }

  #used(more: Used = {}): Json {
    this.#turn = added(this.#turn, more);
    return jsonOf({ turn: this.#turn, session: added(this.#before, this.#turn) });
  }

  #end(): Json {
    this.#before = added(this.#before, this.#turn);
    this.#turn = {};
    this.#number += 1;
    return this.#used();
  }

  #grant(name: string, among: number, wanted: Amounts | undefined): Json {
    const amounts = grantOf(this.#levels, among, wanted);
    this.#grants = [...this.#grants, { name, turn: this.#name, call: name, amounts }];
    return { grant: jsonOf(amounts) };
  }

  #return(name: string, used: Used): Json {
    this.#grants = this.#grants.filter((grant) => grant.name !== name);
    return this.#used(chargedOf(used));
  }

  #raise(name: string, add: Amounts): Json {
    const { turn, session } = this.#limits;
    this.#limits = { turn: raised(turn, add), session: raised(session, add) };
    this.#grants = this.#grants.map((grant) =>
      grant.name === name ? { ...grant, amounts: raisedGrant(grant.amounts, add) } : grant,
    );
    const grant = this.#grants.find((one) => one.name === name)?.amounts ?? {};
    return jsonOf({ grant, limits: this.#limits });
  }

  #check(): Json {
    const reached = reachedIn(this.#levels);
    return jsonOf({ verdict: verdictOn(this.#levels, reached), reached });
  }

  readonly #steps: { readonly [name: string]: (a: Json, b: Json, c: Json) => Json } = {
    call: () => this.#used({ model_calls: 1 }),
    charge: (model, usage) => this.#used(charge(objectOf(usage) as Usage, this.#prices[String(model)])),
    pass: (ms) => this.#used({ wall_ms: Number(ms) }),
    end: () => this.#end(),
    check: () => this.#check(),
    cap: (own) => {
      const cap = outputCap(this.#levels, typeof own === "number" ? own : undefined);
      return cap === undefined ? {} : { max_output_tokens: cap };
    },
    grant: (name, among, wanted) =>
      this.#grant(String(name), Number(among), wanted === null ? undefined : (wanted as Amounts)),
    return: (name, used) => this.#return(String(name), objectOf(used) as Used),
    raise: (name, add) => this.#raise(String(name), objectOf(add) as Amounts),
  };

  take([name, a = null, b = null, c = null]: Step): Json {
    return this.#steps[knownName("step", name, Object.keys(this.#steps))]?.(a, b, c) ?? null;
  }
}

const budget = (input: Input): Json => {
  const ledger = new Ledger(input);
  return { results: (input["steps"] as unknown as readonly Step[]).map((step) => ledger.take(step)) };
};

const control = (input: Input): Json => {
  const calls = listOf(input["calls"]).map((json) => {
    const { name, tool, output, ...rest } = objectOf(json);
    knownFields(rest, []);
    knownFields(objectOf(output), ["ok", "err", "cancelled", "outcome", "control"]);
    return { name: String(name), tool: String(tool), output: outputOf(objectOf(output)) };
  });
  const agents = listOf(input["agents"]).map((name) => textOf(name));
  const switches = Number(input["switches"] ?? 0);
  const maySwitch = switches < defaultOptions.max_switches;
  return jsonOf(decideControls(calls, maySwitch, (agent) => agents.includes(agent)));
};

export const ledgerAdapters = {
  "turn.budget": withFields(["prices", "limits", "steps"], (input: Input) => E.right(budget(input))),
  "turn.control": withFields(["calls", "agents", "switches"], (input: Input) => E.right(control(input))),
};

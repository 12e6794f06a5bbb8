/** Answer early, act late: what is handed out in turns, and when it is committed. */
import { describe, expect, it } from "vitest";
import { type Journal, memoryJournal } from "../src/index.ts";
import type { Append, AppendResult, Platform } from "../src/driver.ts";
import type { News } from "../src/body/replay.ts";
import { type Member, CommitLoop } from "../src/commit/commit-loop.ts";
import { TestPlatform } from "./world.ts";

const appendOf = (scope: string): Append => ({ scope }) as Append;

/** A platform whose turns are taken by hand. */
class ByHand extends TestPlatform {
  #turns: (() => void)[] = [];
  override nextTurn = (then: () => void): void => void this.#turns.push(then);
  async turn(): Promise<void> {
    const [then] = this.#turns.splice(0, 1);
    then?.();
    for (let i = 0; i < 4; i++) await Promise.resolve();
  }
  override followingTurn = (then: () => void): void => {
    this.following += 1;
    this.nextTurn(then);
  };
  override afterTurn: Platform["afterTurn"] = undefined;
  /** From now on the platform can say when all that was handed out is heard. */
  sayAfterTurn(): void {
    this.afterTurn = (then) => queueMicrotask(then);
  }
  get isQuiet(): boolean {
    return this.#turns.length === 0;
  }
}

/** A scope that has so many answers to hand out, and something to append after each. */
class Scope implements Member {
  readonly log: string[] = [];
  readonly name: string;
  answers: number;
  #isDirty = true;
  constructor(name: string, answers: number) {
    this.name = name;
    this.answers = answers;
  }
  deliverNext = (): boolean => {
    if (this.answers === 0) return false;
    this.answers -= 1;
    this.#isDirty = true;
    return true;
  };
  isRow = false;
  get pendingAnswers(): News {
    return this.answers === 0 ? "none" : this.isRow ? "row" : "some";
  }
  nextAppend = (): Append | undefined => {
    if (!this.#isDirty) return undefined;
    this.#isDirty = false;
    return appendOf(this.name);
  };
  appended = (result: AppendResult): void => void this.log.push(result.type);
  rest = (): void => void this.log.push("rest");
  abandon = (why: string): void => void this.log.push(`lost: ${why.split("\n")[0]}`);
}

const start = (appendAll: Journal["appendAll"]) => {
  const commits: string[][] = [];
  const platform = new ByHand();
  const journal: Journal = {
    ...memoryJournal(),
    appendAll: (appends) => {
      commits.push(appends.map(({ scope }) => scope));
      return appendAll(appends);
    },
  };
  return { commits, platform, loop: new CommitLoop(journal, platform) };
};
const accept: Journal["appendAll"] = async (appends) => appends.map(() => ({ type: "ok" }));

const fail = (): never => {
  throw new Error("no rest");
};

describe("a commit loop", () => {
  it("commits all scopes together once nothing is left to hand out, and lets them rest", async () => {
    const { commits, platform, loop } = start(accept);
    const [a, b] = [new Scope("a", 2), new Scope("b", 0)];
    loop.schedule(a);
    loop.schedule(b);
    for (let i = 0; i < 2; i++) await platform.turn();
    expect([a.answers, commits]).toEqual([0, []]);
    await platform.turn();
    expect(commits).toEqual([["a", "b"]]);
    while (!platform.isQuiet) await platform.turn();
    expect([a.log, b.log, commits.length]).toEqual([["ok", "rest"], ["ok", "rest"], 1]);
  });

  it("commits in the turn that hands out the last answer, where the platform says that it was heard", async () => {
    const { commits, platform, loop } = start(accept);
    platform.sayAfterTurn();
    const [a, b] = [new Scope("a", 2), new Scope("b", 1)];
    loop.schedule(a);
    loop.schedule(b);
    await platform.turn();
    expect([a.answers, b.answers, commits]).toEqual([1, 0, []]);
    await platform.turn(); // It had more after the last one, so this one is not asked about.
    expect([a.answers, commits]).toEqual([0, []]);
    await platform.turn();
    expect(commits).toEqual([["a", "b"]]);
    a.answers = 1;
    loop.schedule(a);
    await platform.turn();
    expect([a.answers, commits]).toEqual([0, [["a", "b"], ["a"]]]);
  });

  it("loses a scope that fails as it rests, or is asked what to append, and commits what the others have", async () => {
    const { commits, platform, loop } = start(accept);
    const [a, b, c] = [new Scope("a", 0), new Scope("b", 0), new Scope("c", 0)];
    b.nextAppend = () => undefined;
    b.rest = fail;
    c.nextAppend = fail;
    for (const scope of [a, b, c]) loop.schedule(scope);
    while (!platform.isQuiet) await platform.turn();
    expect([a.log, commits]).toEqual([["ok", "rest"], [["a"]]]);
    expect([b.log, c.log]).toEqual([["lost: Error: no rest"], ["lost: Error: no rest"]]);
  });

  it("lets turns follow on each other where one scope alone hands out a row of answers", async () => {
    const { commits, platform, loop } = start(accept);
    platform.sayAfterTurn();
    const [a, b] = [new Scope("a", 6), new Scope("b", 1)];
    a.isRow = true;
    loop.schedule(a);
    for (let i = 0; i < 3; i++) await platform.turn();
    expect([a.answers, platform.following]).toEqual([3, 2]); // The first turn found out that there was more.
    loop.schedule(b);
    await platform.turn();
    expect([a.answers, b.answers, platform.following]).toEqual([2, 0, 2]);
    while (!platform.isQuiet) await platform.turn();
    expect([a.answers, commits]).toEqual([0, [["a", "b"]]]);
  });

  it("commits after 64 turns although there is always something to hand out", async () => {
    const { commits, platform, loop } = start(accept);
    loop.schedule(new Scope("a", 1000));
    for (let i = 0; i < 63; i++) await platform.turn();
    expect(commits).toHaveLength(0);
    await platform.turn();
    expect(commits).toHaveLength(1);
  });

  it("commits after 5 ms although there is always something to hand out", async () => {
    const { commits, platform, loop } = start(accept);
    loop.schedule(new Scope("a", 1000));
    for (let i = 0; i < 2; i++) {
      expect(commits).toHaveLength(0);
      await platform.turn();
      platform.advance(5);
    }
    expect(commits).toHaveLength(1);
  });

  it("hands out while a commit is under way, and begins no second one", async () => {
    const { promise, resolve } = Promise.withResolvers<readonly AppendResult[]>();
    const { commits, platform, loop } = start(() => promise);
    const a = new Scope("a", 0);
    loop.schedule(a);
    await platform.turn();
    a.answers = 3;
    loop.schedule(a);
    while (!platform.isQuiet) await platform.turn();
    expect([a.answers, commits.length]).toEqual([0, 1]);
    resolve([{ type: "ok" }]);
    await platform.turn();
    while (!platform.isQuiet) await platform.turn();
    expect(commits).toHaveLength(2);
  });

  it("tells each scope its own result, and all of them when the store throws", async () => {
    const one = start(async () => [{ type: "ok" }, { type: "full" }]);
    const [a, b] = [new Scope("a", 0), new Scope("b", 0)];
    one.loop.schedule(a);
    one.loop.schedule(b);
    await one.platform.turn();
    expect([a.log, b.log]).toEqual([["ok"], ["full"]]);
    const two = start(() => Promise.reject(new Error("gone")));
    const c = new Scope("c", 0);
    two.loop.schedule(c);
    await two.platform.turn();
    expect(c.log).toEqual(["failed"]);
  });

  it("loses the scope that breaks, and no other", async () => {
    const { commits, platform, loop } = start(accept);
    const [a, b] = [new Scope("a", 0), new Scope("b", 0)];
    a.deliverNext = () => {
      throw new Error("broken");
    };
    a.nextAppend = () => undefined;
    loop.schedule(a);
    loop.schedule(b);
    await platform.turn();
    expect([a.log[0], commits]).toEqual(["lost: Error: broken", [["b"]]]);
  });
});

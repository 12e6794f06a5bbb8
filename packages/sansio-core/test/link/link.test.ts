import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bodyOf } from "../../src/call/row.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { answerOf } from "../../src/link/model.ts";
import { outstanding } from "../../src/machine.ts";
import { home, Pair, session, working } from "../process/pair.ts";
import { cancel, signal, start } from "../process/asking.ts";
import { World } from "./world.ts";

type Received = Extract<Event, { readonly type: "message.received" }>;
const received = (pair: Pair, index = 0): Received => {
  const event = pair.frames[index]?.event;
  if (event?.type !== "message.received") throw new Error("no message");
  return event;
};

describe("a message", () => {
  it("is taken once: its number again gets the recorded answer, and a gap waits", () => {
    const pair = new Pair();
    pair.send(start(working()));
    pair.send(signal("go", 1));
    const [first, second] = [received(pair), received(pair, 1)];
    expect(pair.offer(home, second)).toBe("link_gap");
    pair.tell(home, first);
    expect(pair.offer(home, first)).toBe("already_received");
    expect(answerOf(pair.state(home), first, false)).toMatchObject({ status: "accepted" });
    expect(answerOf(pair.state(home), second, false)).toBeUndefined();
    pair.tell(home, second);
    expect(pair.gave(home, "message.answer").map(({ number }) => number)).toEqual([1, 2]);
  });

  it("that is refused blocks nothing", () => {
    const pair = new Pair();
    const refused = pair.send(signal("go", 1));
    const taken = pair.send(start(working()));
    pair.deliver();
    expect([pair.settled(refused), pair.settled(taken)]).toEqual(["err", "ok"]);
  });

  it("is answered in any order, each once, and only if it was sent", () => {
    const pair = new Pair();
    const keys = [pair.send(start(working())), pair.send(signal("go", 1))];
    const { link } = received(pair);
    const outcome = { status: "accepted", value: null } as const;
    const answer = (number: number, of = link) =>
      ({ type: "message.answered", to: home, link: of, number, outcome }) as const;
    pair.tell(session, answer(2));
    expect(keys.map((key) => pair.settled(key))).toEqual([undefined, "ok"]);
    expect(pair.offer(session, answer(2))).toBe("already_answered");
    expect(pair.offer(session, answer(3))).toBe("message_unknown");
    expect(pair.offer(session, answer(1, link + 1))).toBe("link_unknown");
    pair.tell(session, answer(1));
    expect(pair.settled(keys[0] as string)).toBe("ok");
    expect(pair.offer(session, { type: "link.retired", peer: "process:nobody" })).toBe("link_unknown");
  });

  it("is sent again until it is answered, with what was heard by then", () => {
    const pair = new Pair();
    pair.send(start(working()));
    pair.send(signal("go", 1));
    expect(outstanding(pair.state(session))).toMatchObject(
      [{ type: "tool.execute" }, { type: "send", number: 1, heard: 0 }, { type: "send", number: 2, heard: 0 }].slice(1),
    );
    pair.take(pair.frames.shift() as never);
    const [, answer] = pair.frames;
    pair.take(answer as never);
    expect(outstanding(pair.state(session))).toMatchObject([{ type: "send", number: 2, heard: 1 }]);
  });

  it("finds room when its sender has heard the answers that fill it", () => {
    const pair = new Pair();
    pair.open(home, [], { max_answers: 2 });
    const keys = [1, 2, 3, 4].map((n) => pair.send(signal("go", n, `s${n}`)));
    for (const { to, event } of pair.frames.splice(0)) {
      const code = pair.take({ to, event });
      expect(code).toBe(
        event.type === "message.received" && event.number > 2
          ? event.number === 3
            ? "link_full"
            : "link_gap"
          : undefined,
      );
    }
    pair.settle();
    expect(keys.map((key) => pair.settled(key))).toEqual(["err", "err", "err", "err"]);
    expect(pair.isForgotten).toBe(true);
  });

  it("settles the effect that sent it, and no later one under its key", () => {
    const pair = new Pair();
    const key = pair.send(start(working()));
    const end = {
      status: "failure",
      payload: { class: "execution", code: "x", message: "y", source: "tool", retry: { type: "safe" } },
    } as const;
    pair.tell(session, {
      type: "call.settled",
      call: "r:b",
      attempt: 1,
      run: 1,
      result: { type: "done", output: { outcome: end } },
      duration_ms: 1,
    });
    pair.deliver();
    expect(pair.settled(key)).toBeUndefined();
    expect(pair.status).toBe("running");
  });
});

describe("a link", () => {
  it("opens and closes with what is said, and what is left of an old one is never taken for a new one's", () => {
    const pair = new Pair();
    pair.send(start(working()));
    const old = { to: home, event: received(pair) };
    pair.deliver().end().deliver();
    expect(pair.isForgotten).toBe(true);
    expect(pair.take(old)).toBe("already_received");
    const key = pair.send(cancel("late"));
    expect(received(pair).link).toBeGreaterThan(old.event.link);
    pair.take(pair.frames.shift() as never);
    expect(pair.offer(home, old.event)).toBe("already_received");
    pair.settle();
    expect(pair.settled(key)).toBe("ok");
  });

  it("that closes lets what comes wait for the next one", () => {
    const pair = new Pair();
    pair.send(start(working()));
    pair.deliver().tell(session, { type: "link.retired", peer: home });
    const key = pair.send(signal("go", 1));
    expect(pair.state(session).links.get(home)?.outgoing).toMatchObject({ phase: "closing", waiting: [{}] });
    expect(pair.offer(session, { type: "link.retired", peer: home })).toBe("wrong_phase");
    pair.settle();
    expect(pair.settled(key)).toBe("ok");
    expect(pair.state(session).links.get(home)?.outgoing).toMatchObject({ phase: "open", sent: 1 });
  });

  it("of a new name says that the old one is over", () => {
    const pair = new Pair();
    pair.send(signal("go", 1));
    const event = received(pair);
    pair.tell(home, event).tell(home, { ...event, link: event.link + 10 });
    expect(pair.finished).toEqual([`${home}<${session}#${event.link}`]);
    expect(pair.state(home).links.get(session)?.incoming).toMatchObject({ link: event.link + 10, received: 1 });
  });

  it("to oneself is a link like others", () => {
    const pair = new Pair();
    const key = pair.ask({ kind: "message", to: session, message: signal("go", 1) });
    pair.settle();
    expect(pair.settled(key)).toBe("err");
  });
});

/** Everything that a session may ask of a process, by the numbers that it is given. */
const asked = (pair: Pair, n: number): void => {
  const ways = [
    () => pair.send(start(working())),
    () => pair.send(signal("go", n, `s${n % 4}`)),
    () => pair.send(cancel(`r${n % 2}`)),
    () => pair.send({ type: "process.await", wait: `w${n % 3}` }),
  ];
  ways[n % ways.length]?.();
};

describe("over a carriage that loses, repeats and reorders", () => {
  const luck = fc.array(fc.nat({ max: 1000 }), { maxLength: 40 });
  const moves = fc.array(fc.tuple(fc.constantFrom("ask", "crash", "die", "finish"), fc.nat({ max: 11 }), luck), {
    maxLength: 12,
  });

  it("every message does what it does once, every effect is answered, and both ends forget each other", () => {
    fc.assert(
      fc.property(moves, (all) => {
        const pair = new Pair();
        for (const [move, n, numbers] of all) {
          if (move === "ask") asked(pair, n);
          else if (move === "crash") pair.crash(home);
          else if (move === "die") crashSession(pair);
          else finishIfRunning(pair);
          pair.deliverBadly(numbers);
        }
        pair.settle();
        const row = pair.state(session).calls.at("r:b");
        expect(row === undefined ? [] : bodyOf(row)?.open).toEqual([]);
        const process = pair.state(home).process;
        const events = (pair.logs.get(home) ?? []).filter(({ type }) => type === "message.received").length;
        expect(process?.sequence ?? 0).toBeLessThanOrEqual(events + 1);
        expect(pair.gave(home, "process.observe").filter(({ what }) => what === "ended").length).toBeLessThanOrEqual(1);
        if (pair.status !== "running") expect(pair.isForgotten).toBe(true);
        for (const { status } of pair.state(session).handles.values()) expect(status).toBe(pair.status);
      }),
      { numRuns: 300 },
    );
  });
});

/** The session's owner is lost; its body starts again at once. */
const crashSession = (pair: Pair): void => {
  pair.crash(session);
  resume(pair, session, "r:b");
};
const resume = (pair: Pair, scope: string, call: string): void => {
  const row = pair.state(scope).calls.at(call);
  if (row?.phase === "resuming") {
    const { attempt, run } = row.body;
    pair.tell(scope, { type: "call.resumed", call, attempt, run, cause: row.cause, owner: "d" });
  }
};
const finishIfRunning = (pair: Pair): void => {
  resume(pair, home, "p1:c");
  if (pair.state(home).calls.at("p1:c")?.phase === "running") pair.end();
};

const known = (world: World, scope: string, peer: string): number | undefined =>
  world.state(scope).links.get(peer)?.protocol;
const saysProtocol = (world: World, scope: string): boolean =>
  world.logs.get(scope)?.some((event) => event.type.startsWith("message.") && "protocol" in event) ?? false;

describe("the protocols of both ends", () => {
  const [one, two] = [session, home];
  const grants = { holder: { session_id: "s" }, descriptor: { kind: "tool" }, status: "running" } as const;

  /** Two scopes, of which the first says something that the other answers. */
  const talking = (from: number, to: number): World => {
    const world = new World().open(one, [], {}, from).open(two, [], {}, to);
    world.tell(two, { ...start(working()), type: "process.registered" });
    world.tell(one, { type: "handle.granted", process: "p1", ...grants });
    return world.settle();
  };
  it("are known at both where both are of 2", () => {
    const world = talking(2, 2);
    expect([known(world, one, two), known(world, two, one)]).toEqual([2, 2]);
  });

  it.each([
    [1, 2],
    [2, 1],
    [1, 1],
  ])("%i and %i: whoever is of 1 is told nothing of protocols, and says nothing", (from, to) => {
    const world = talking(from, to);
    expect([known(world, one, two), known(world, two, one)]).toEqual([undefined, undefined]);
    for (const [scope, protocol] of [[one, from] as const, [two, to] as const])
      if (protocol === 1) expect(saysProtocol(world, scope)).toBe(false);
  });

  it("are known once the other is upgraded and says something, and stay known when an older word comes late", () => {
    const world = talking(2, 1);
    world.tell(two, { type: "scope.upgraded", to: 2 });
    expect(known(world, one, two)).toBeUndefined();
    world.tell(one, { type: "handles.revoked", holder: { session_id: "s" } });
    const late = world.frames.filter(({ to }) => to === two);
    world.settle();
    expect(known(world, two, one) ?? 2).toBe(2);
    for (const { to, event } of late) world.take({ to, event: { ...event, protocol: 1 } as Event });
    expect(known(world, two, one) ?? 2).toBe(2);
  });
});

/** The status of a turn, in each of its phases and after its end. */
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/index.ts";
import { requestStatus, scopeStatus } from "../../src/explain/status.ts";
import { World } from "../cases/turn/world.ts";

const prompt = { messages: 1, hash: "" };
const of = (attempt = 1, n = 1) => ({ request: "t", n, attempt });

const answered = (text: string, n = 1): Event => ({
  type: "model.answered",
  ...of(1, n),
  pieces: [{ b: 0, part: { type: "text", text } }],
  finish: { reason: "stop" },
  usage: { input_tokens: 5 },
  prompt,
  ms: 1,
});

const calling = (tool: string): Event => ({
  type: "model.answered",
  ...of(),
  pieces: [{ b: 0, part: { type: "tool-call", id: "c", tool, args: {} } }],
  finish: { reason: "tool-calls" },
  usage: {},
  prompt,
  ms: 1,
});

const failed = (kind: "overloaded" | "auth"): Event => ({
  type: "model.failed",
  ...of(),
  class: kind,
  message: "no",
  prompt,
  ms: 1,
});

/** A session with a turn `t`, and a turn `u` behind it. */
const session = (limits?: object): World => {
  const world = new World([{ name: "pay", policy: "requires_approval" }]);
  const routes = [{ provider: "p", model: "m" }];
  world.tell({ type: "agent.published", agent: "main", hash: "h", spec: { routes, shown: [], tools: ["pay"] } });
  const messages = [{ role: "user", content: "go" }] as const;
  const own = limits === undefined ? {} : { limits };
  world.tell({ type: "turn.submitted", request: "t", hash: "h", messages, when_busy: "queue", ...own });
  world.tell({ type: "turn.submitted", request: "u", hash: "h", messages, when_busy: "queue" });
  return world;
};

const statusOf = ({ state }: World, request = "t") => {
  const row = state.requests.at(request);
  if (row === undefined) throw new Error(`no request ${request}`);
  const { since: _, until: __, ...status } = requestStatus(state, row);
  return status;
};

describe("the status of a turn", () => {
  it("names what it waits for; the turn behind it waits for the same", () => {
    const world = session();
    expect(statusOf(world)).toEqual({ state: "waiting", waitsFor: "model" });
    expect(statusOf(world, "u")).toEqual({ state: "waiting", waitsFor: "model" });
    expect(scopeStatus(world.state)).toMatchObject({ state: "waiting", waitsFor: "model" });
    world.tell(calling("pay"));
    expect(statusOf(world)).toEqual({ state: "waiting", waitsFor: "person" });
    expect(statusOf(world, "u")).toEqual({ state: "waiting", waitsFor: "person" });
  });

  it("waits for time between attempts, and for a decision on its budget", () => {
    const busy = session();
    busy.tell(failed("overloaded"));
    expect(statusOf(busy)).toEqual({ state: "waiting", waitsFor: "time" });
    const spent = session({ input_tokens: { limit: 3 } });
    spent.tell({ ...(calling("none") as Extract<Event, { type: "model.answered" }>), usage: { input_tokens: 5 } });
    expect(statusOf(spent)).toEqual({ state: "waiting", waitsFor: "budget" });
    spent.tell({ type: "budget.decided", ask: 1, decision: "stop", by: "ann" });
    expect(statusOf(spent)).toEqual({ state: "failed" });
  });

  it("is done, failed or cancelled when the turn is over", () => {
    const done = session();
    done.tell(answered("Yes."));
    expect(statusOf(done)).toEqual({ state: "done" });
    const lost = session();
    lost.tell(failed("auth"));
    expect(statusOf(lost)).toEqual({ state: "failed" });
    const stopped = session();
    stopped.tell({ type: "request.cancelled", request: "t" });
    stopped.tell({ type: "model.stopped", ...of(), pieces: [] });
    expect(statusOf(stopped)).toEqual({ state: "cancelled" });
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextDeadline } from "../../src/machine.ts";
import type { CallRow } from "../../src/call/model.ts";
import { bodyOf } from "../../src/call/row.ts";
import { requestStatus, scopeStatus, type Status } from "../../src/explain/status.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import type { RequestRow } from "../../src/request/model.ts";
import { play, script, statesOf } from "../arbitrary/play.ts";

/** The turn that a request waits for or with: itself where it runs, and the one that runs where it is behind that. */
const turnOf = ({ conversation: { running, waiting } }: State, { request }: RequestRow) =>
  running?.request === request || waiting.some((turn) => turn.request === request) ? running : undefined;

const callsOf = (state: State, row: RequestRow): readonly CallRow[] => {
  const request = turnOf(state, row)?.request ?? row.request;
  return state.calls.rows().filter(({ call }) => call.request === request);
};

const asksPerson = (row: CallRow): boolean =>
  row.phase === "awaiting_approval" ||
  (bodyOf(row)?.open.some(({ waiting, approval }) => waiting !== undefined || approval !== undefined) ?? false);

/** Returns what is wrong with the status of a running request. */
const brokenIn = (state: State, row: RequestRow, status: Status): string | undefined => {
  const calls = callsOf(state, row);
  const isUnknown = turnOf(state, row)?.phase.type === "unknown";
  const hasUnknown = isUnknown || calls.some(({ phase }) => phase === "unknown");
  if (hasUnknown !== (status.state === "unknown")) return `${status.state}, and a call is unknown: ${hasUnknown}`;
  if (status.state !== "working" && status.state !== "waiting" && !hasUnknown) return `it runs, and is ${status.state}`;
  if ((status.since ?? Infinity) > state.seq) return `it is so since event ${status.since}`;
  if (status.state !== "waiting") return undefined;
  if (status.waitsFor === "person") return calls.some(asksPerson) ? undefined : "nobody is asked";
  if (calls.some(({ phase }) => phase === "awaiting_approval"))
    return `it waits for ${status.waitsFor}, not for approval`;
  const due = nextDeadline(state)?.at ?? Infinity;
  if (status.waitsFor === "time" && due > (status.until ?? -1)) return "it waits for time, and no deadline moves it";
  return undefined;
};

const everywhere = (broken: (state: State) => string | undefined): void =>
  fc.assert(
    fc.property(script(80), (one) => {
      for (const state of statesOf(play(one))) {
        const what = broken(state);
        if (what !== undefined) throw new Error(`after event ${state.seq}: ${what}`);
      }
    }),
    { numRuns: 200 },
  );

describe("the status of a request", () => {
  it("says of every state of many histories what its calls say", () => {
    const seen = new Set<string>();
    everywhere((state) => {
      for (const row of state.requests.rows()) {
        const status = requestStatus(state, row);
        seen.add(status.state === "waiting" ? (status.waitsFor ?? "") : status.state);
        if (row.phase === "replying") {
          if (["working", "waiting", "unknown"].includes(status.state)) return `it has ended, and is ${status.state}`;
          continue;
        }
        const what = brokenIn(state, row, status);
        if (what !== undefined) return `${row.request}: ${what}`;
      }
      return undefined;
    });
    const usual = ["cancelled", "done", "failed", "outside", "person", "time", "working"];
    expect([...seen]).toEqual(expect.arrayContaining(usual));
  });
});

describe("the status of a scope", () => {
  it("is over only where no request runs", () => {
    everywhere((state) => {
      const runs = state.requests.rows().some(({ phase }) => phase === "running");
      const { state: word } = scopeStatus(state);
      const isOver = word === "done" || word === "failed" || word === "cancelled";
      return runs && isOver ? `it is ${word}, and a request runs` : undefined;
    });
  });
});

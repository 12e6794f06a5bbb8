/** Logs that were written to attack their reader. */
import { currentFormat, currentProtocol, defaultOptions, headerLine, initial, write } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { Recording } from "../src/model/index.ts";

const opened = {
  type: "scope.opened",
  epoch: 1,
  owner: "i",
  protocol: currentProtocol,
  options: defaultOptions,
} as const;

const nested = (depth: number): unknown => {
  let json: unknown = "core";
  for (let i = 0; i < depth; i++) json = i % 2 === 0 ? { a: json } : [json];
  return json;
};

/** Returns a valid log with arguments of the attacker's choice. */
const logOf = (args: unknown): string => {
  const scope = "session:s";
  const header = { format: currentFormat, protocol: currentProtocol, scope, epoch: 1, writer: "i", base: 0 };
  const calls = [{ id: "__proto__", tool: "<img src=x onerror=alert(1)>", args: args as never }];
  const submitted = { type: "request.submitted", request: "__proto__", hash: "h", calls } as const;
  const lines = [headerLine(header)];
  let state = initial(scope);
  for (const [i, event] of [opened, submitted].entries()) {
    const written = write(state, { seq: i + 1, at: 1_700_000_000_000, event });
    if (E.isLeft(written)) throw new Error(written.left.message);
    state = written.right.state;
    lines.push(written.right.line);
  }
  return lines.join("");
};

const recordingOf = (text: string): Recording => {
  const recording = new Recording();
  recording.feed(text);
  recording.end();
  return recording;
};

describe("a hostile log", () => {
  it.each([500, 200_000])("%s levels deep is cut, so that a worker can send it and a page can show it", (depth) => {
    const recording = recordingOf(logOf(nested(depth)));
    expect(recording.problem).toBeUndefined();
    const moment = recording.momentAt(recording.last);
    expect(moment.known?.waiting).toBeDefined();
    const sent = structuredClone(moment);
    expect(JSON.stringify(sent.json)).toContain("…");
    expect(JSON.stringify(sent.known)).not.toContain("core");
    expect(sent.line).toContain("core");
  });

  it("with `__proto__` as a key and as names is handled like any other", () => {
    const args = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}') as unknown;
    const recording = recordingOf(logOf(args));
    expect(recording.problem).toBeUndefined();
    const { json, known } = structuredClone(recording.momentAt(recording.last));
    expect(JSON.stringify(json)).toContain('{"__proto__":{"isAdmin":true},"constructor":1}');
    expect(JSON.stringify(known?.tree)).toContain("isAdmin");
    expect("isAdmin" in {}).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import type { EffectKind } from "../../src/call/effect/effect.ts";
import { ask } from "../../src/call/effect/ask.ts";
import type { Rig } from "../rig.ts";
import { type Run, ask as request, busy, crash, leave, of, resume, running, step, stepErr, stepOk } from "./words.ts";

const retry_policy = { type: "safe", max_attempts: 3, base_delay_ms: 0, max_delay_ms: 0 } as const;
const retried = (): Rig => running({ retry_policy });
const said = (rig: Rig, key: string, run: Run = [1, 1], kind: EffectKind = "step", hash = `h:${key}`) =>
  ask(rig.state, { ...of("r:a", run), key, kind, hash });

describe("what becomes of a body's request", () => {
  it("is decided by its key: a new one is recorded", () => {
    expect(said(retried().skip(), "s")).toEqual({ type: "record" });
  });
  it("one that settled is answered from the log, success and failure alike", () => {
    const rig = retried();
    stepOk(request(rig, "r:a", "ok", step()).skip(), "r:a", "ok").skip();
    stepErr(request(rig, "r:a", "err", step()).skip(), "r:a", "err").skip();
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]).nothingMore();
    expect(said(rig, "ok", [1, 2])).toMatchObject({ type: "answer", effect: { status: "ok" } });
    expect(said(rig, "err", [1, 2])).toMatchObject({ type: "answer", effect: { status: "err" } });
  });
  it("one that is open is joined; a step that another run recorded goes by its recovery", () => {
    const rig = retried();
    request(rig, "r:a", "again", step()).skip();
    request(rig, "r:a", "once", step("once")).skip();
    request(rig, "r:a", "sleep", { kind: "sleep", ms: 1 }).skip();
    expect(said(rig, "again")).toEqual({ type: "join" });
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]).nothingMore();
    expect(said(rig, "again", [1, 2])).toEqual({ type: "run" });
    expect(said(rig, "once", [1, 2])).toEqual({ type: "unknown" });
    expect(said(rig, "sleep", [1, 2], "sleep")).toEqual({ type: "join" });
  });
  it("of a run that is over is refused", () => {
    const rig = retried();
    crash(rig).skip();
    expect(said(rig, "s")).toEqual({ type: "ended" });
    expect(said(rig, "s", [2, 1])).toEqual({ type: "ended" });
    rig.nothingMore();
  });
  it("says what was expected and what was found where the kind or the input is another", () => {
    const rig = request(retried(), "r:a", "s", step()).skip();
    const expected = "step `s` with input h:s";
    expect(said(rig, "s", [1, 1], "sleep")).toEqual({ type: "diverged", expected, found: "sleep `s` with input h:s" });
    stepOk(rig, "r:a", "s").skip();
    expect(said(rig, "s", [1, 1], "step", "x")).toEqual({ type: "diverged", expected, found: "step `s` with input x" });
  });
  it("in a later attempt reuses what succeeded, and runs again what failed", () => {
    const rig = retried();
    stepOk(request(rig, "r:a", "ok", step()).skip(), "r:a", "ok").skip();
    stepErr(request(rig, "r:a", "err", step()).skip(), "r:a", "err").skip();
    stepErr(request(rig, "r:a", "once", step("once")).skip(), "r:a", "once").skip();
    request(rig, "r:a", "open", step("once")).skip();
    leave(rig, "r:a", busy(), "open").skip();
    expect(said(rig, "ok", [2, 1])).toMatchObject({ type: "reuse" });
    expect(said(rig, "err", [2, 1])).toEqual({ type: "record" });
    expect(said(rig, "once", [2, 1])).toMatchObject({ type: "reuse", effect: { status: "err" } });
    expect(said(rig, "open", [2, 1])).toEqual({ type: "unknown" });
    rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "ok" }).skip();
    expect(said(rig, "ok", [2, 1])).toMatchObject({ type: "answer" });
  });
});

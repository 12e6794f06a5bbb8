/** A session and a process that it has to do with. */
import type { Json } from "@pawl/tool-value";
import type { Asking } from "../../src/message/message.ts";
import { bodyOf } from "../../src/call/row.ts";
import type { EffectSpec, SettledEffect } from "../../src/call/effect/effect.ts";
import { tool } from "../rig.ts";
import { World } from "../link/world.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { eventType, registration } from "./world.ts";

export const session = "session:s";
export const home = "process:p1";
export const holder = { session_id: "s" };

/** A process that runs one call of the tool `work`. */
export const working = (more: Partial<ProcessRegistration> = {}): ProcessRegistration =>
  registration([eventType("note"), eventType("signal.go")], {
    input: {
      type: "tool_call",
      call: {
        call_id: "c",
        tool_id: "tool:work",
        tool_name: "work",
        args: { n: 1 },
        prepared_payload: { ready: true },
      },
    },
    env_ref: "process-env:sha256:0",
    identity: { kind: "tool", label: "work" },
    wake_target: holder,
    ...more,
  });

/** A session with a running body, and the scope of a process that has its tool. */
export class Pair extends World {
  #asked = 0;

  constructor() {
    super();
    const patient = { crash_pauses_ms: [] };
    this.open(session, [tool("body")], patient).open(home, [tool("work")], patient);
    this.tell(session, {
      type: "request.submitted",
      request: "r",
      hash: "h",
      calls: [{ id: "b", tool: "body", args: null }],
    });
  }

  /** The body asks for something; its key. */
  ask(effect: EffectSpec, key = `k${++this.#asked}`): string {
    const run = { call: "r:b", attempt: 1, run: this.run("r:b", session) };
    this.tell(session, { type: "effect.requested", ...run, key, hash: "h", effect });
    return key;
  }
  send(message: Asking, more: { readonly key?: string; readonly named?: boolean } = {}): string {
    const named = more.named === true ? { holder } : {};
    return this.ask({ kind: "message", to: home, message, ...named }, more.key);
  }
  run(call: string, scope: string): number {
    const row = this.state(scope).calls.at(call);
    return row === undefined ? 0 : (bodyOf(row)?.run ?? 0);
  }
  #settledOf(key: string): SettledEffect | undefined {
    const row = this.state(session).calls.at("r:b");
    return row === undefined ? undefined : bodyOf(row)?.settled.get(key);
  }
  /** How an effect of the body settled: undefined while it has not. */
  settled(key: string): string | undefined {
    return this.#settledOf(key)?.status;
  }
  /** The event that holds the value of a settled effect. */
  eventOf(key: string): unknown {
    const value = this.#settledOf(key)?.value;
    return value === undefined ? undefined : this.logs.get(session)?.[value - 1];
  }
  get status(): string | undefined {
    return this.state(home).process?.status.state;
  }
  /** The process's own call ends. */
  end(value: Json = "done"): this {
    const run = { call: "p1:c", attempt: 1, run: this.run("p1:c", home) };
    const output = { outcome: { status: "success", payload: value as never } } as const;
    return this.tell(home, { type: "call.settled", ...run, result: { type: "done", output }, duration_ms: 1 });
  }
  /** Both ends have nothing left of each other. */
  get isForgotten(): boolean {
    return this.state(session).links.size + this.state(home).links.size === 0;
  }
}

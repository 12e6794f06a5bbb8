/** A scope under test for the cases: one tool, one request, driven by events through the public API. */
import * as E from "fp-ts/lib/Either.js";
import { caseProtocol } from "@pawl/testkit";
import type { Json } from "@pawl/tool-value";
import * as core from "../../src/index.ts";

/** A call as the cases make it: of the tool `t`, if they name no other. */
export interface TestCall {
  readonly id: string;
  readonly args: Json;
  readonly tool?: string;
  readonly replay?: Json;
}

const tool = core.plainTool("t", { durable: true });

export class TestScope {
  state = core.initial("session:s");
  readonly commands: core.Command[] = [];
  #at = 0;

  /** With a request `r` of these calls, all running but for serial ones that wait for their turn. */
  constructor(
    calls: readonly TestCall[],
    tools: readonly core.Tool[] = [tool],
    options: core.Options = core.defaultOptions,
  ) {
    this.tell({ type: "scope.opened", epoch: 1, owner: "d", protocol: caseProtocol(), options });
    this.tell({ type: "catalog.published", tools });
    this.tell({
      type: "request.submitted",
      request: "r",
      hash: "h",
      calls: calls.map((call) => ({ tool: tool.name, ...call })),
    });
  }

  offer(event: core.Event): core.Rejection | undefined {
    const result = core.step(this.state, { seq: this.state.seq + 1, at: this.#at, event });
    if (E.isLeft(result)) return result.left;
    this.state = result.right.state;
    this.commands.push(...result.right.commands);
    return undefined;
  }

  tell(event: core.Event): void {
    const rejection = this.offer(event);
    if (rejection !== undefined) throw new Error(`${event.type}: ${rejection.message}`);
  }

  /** Time goes on, with a tick at each deadline on the way, as a driver does. */
  until(at: number): void {
    for (
      let due = core.nextDeadline(this.state);
      due !== undefined && due.at < at;
      due = core.nextDeadline(this.state)
    ) {
      this.#at = Math.max(this.#at, due.at);
      this.tell({ type: "clock.ticked" });
    }
    this.#at = Math.max(this.#at, at);
  }

  tick(): void {
    this.tell({ type: "clock.ticked" });
  }
}

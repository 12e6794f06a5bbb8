/** Long logs for tests and figures, written by the core itself. */
import { type Event, type State, headerLine, initial, plainTool, write } from "@pawl/sansio-core";
import { defaultOptions } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";

const scope = "session:long";

class Writer {
  #state: State = initial(scope);
  readonly lines: string[] = [headerLine({ format: 1, protocol: 1, scope, epoch: 1, writer: "test", base: 0 })];

  say(event: Event): void {
    const { seq } = this.#state;
    const written = write(this.#state, { seq: seq + 1, at: 1_760_000_000_000 + seq * 20, event });
    if (E.isLeft(written)) throw new Error(`${event.type}: ${written.left.message}`);
    this.#state = written.right.state;
    this.lines.push(written.right.line);
  }
  get events(): number {
    return this.lines.length - 1;
  }
}

const open = (epoch: number): Event => ({
  type: "scope.opened",
  epoch,
  owner: `driver-${epoch}`,
  protocol: 1,
  options: defaultOptions,
});

/** Writes a request with two parallel calls of `steps` steps each. */
const sayRequest = (writer: Writer, request: string, steps: number, padding: string): void => {
  const calls = ["a", "b"].map((id) => ({ id, tool: "work", args: { id } }));
  writer.say({ type: "request.submitted", request, hash: "h".repeat(64), calls });
  for (let n = 1; n <= steps; n++)
    for (const { id } of calls) {
      const of = { call: `${request}:${id}`, attempt: 1, run: 1, key: `durable-step:step ${n}` };
      const effect = { kind: "step", recovery: "again", input: { n } } as const;
      writer.say({ type: "effect.requested", ...of, hash: "i".repeat(64), effect });
      writer.say({ type: "step.settled", ...of, result: { status: "ok", value: { n, padding } } });
    }
  for (const { id } of calls) {
    const output = { outcome: { status: "success", payload: id } } as const;
    const of = { call: `${request}:${id}`, attempt: 1, run: 1 };
    writer.say({ type: "call.settled", ...of, result: { type: "done", output }, duration_ms: 5 });
  }
  writer.say({ type: "reply.acked", request });
};

/** Returns a log of at least so many events, in lines of about `size` characters, with new owners now and then. */
export const longLog = (events: number, size = 200): string => {
  const writer = new Writer();
  writer.say(open(1));
  writer.say({ type: "catalog.published", tools: [plainTool("work", { durable: true })] });
  const padding = "x".repeat(Math.max(0, size - 200));
  let epoch = 1;
  for (let n = 1; writer.events < events; n++) {
    sayRequest(writer, `turn-${n}`, 5, padding);
    if (n % 100 === 0) writer.say(open(++epoch));
  }
  return writer.lines.join("");
};

/** Returns a log whose body waits for a batch of two calls with unchecked arguments. */
export const batchLog = (): string => {
  const writer = new Writer();
  writer.say(open(1));
  const tools = [plainTool("answer", { durable: true }), plainTool("work", { checks: true })];
  writer.say({ type: "catalog.published", tools });
  const call = { id: "c", tool: "answer", args: null };
  writer.say({ type: "request.submitted", request: "r", hash: "h".repeat(64), calls: [call] });
  const of = { call: "r:c", attempt: 1, run: 1, key: `tool-batch:${"b".repeat(64)}`, hash: "h".repeat(64) };
  const calls = ["a", "b"].map((id) => ({ id, tool: "tool:work", args: null }));
  writer.say({ type: "effect.requested", ...of, effect: { kind: "batch", calls } });
  return writer.lines.join("");
};

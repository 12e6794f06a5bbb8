/** Processes that a host starts, and engines for them. */
import type { ProcessAwaitOutput, ProcessRegistration } from "@pawl/sansio-core/driver";
import type { HostPort, ToolDefinition } from "../../src/index.ts";
import { type Process, World } from "../world.ts";
import { eventType } from "./world.ts";

export const held = { session_id: "s" };
export const external = (id: string): ProcessRegistration => ({
  id,
  input: { type: "external", metadata: { label: "outside" } },
  identity: { kind: "external" },
  event_types: [],
  provenance: { originator: { type: "host" } },
});
export const engine = (id: string, more: Partial<ProcessRegistration> = {}): ProcessRegistration => ({
  ...external(id),
  input: { type: "engine", kind: "flow", payload: null },
  env_ref: "process-env:sha256:0",
  event_types: [eventType("signal.go", {}, { type: "object", required: ["n"] }), eventType("note")],
  ...more,
});
export const done: ProcessAwaitOutput = { type: "success", value: "done" };

/** An engine that goes on until it is told to stop, or to finish. */
export class Patient {
  finish: ((output: ProcessAwaitOutput) => void) | undefined;
  readonly engines = {
    flow: {
      run: (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<ProcessAwaitOutput> =>
        new Promise((resolve) => {
          this.finish = resolve;
          const stop = (): void => resolve({ type: "cancelled", message: "stopped" });
          if (signal.aborted) stop();
          else signal.addEventListener("abort", stop);
        }),
    },
  };
}

export const begin = (
  host: HostPort,
  tools: readonly ToolDefinition[] = [],
): { readonly world: World } & Process["runtime"] => {
  const world = new World();
  return Object.assign(world.start(tools, { host }).runtime, { world });
};

export const messageOf = (thrown: Promise<unknown>): Promise<unknown> =>
  thrown.then(
    () => "no error",
    (error: Error) => error.message,
  );

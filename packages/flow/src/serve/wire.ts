/**
 * The events of a flow as frames of a stream. There are three projections: `raw` has every event, `named` leaves out the
 * events of steps, `whole` is `raw` with the result of the flow at the end. Frames are server-sent events; over a
 * WebSocket each frame is a message.
 */
import type { FlowEnd, FlowExecutionEvent } from "@pawl/sansio-core/driver";

/** The events of the core, and those of a model's step, which the flows of this package do not have. */
export type WireEvent =
  | FlowExecutionEvent
  | {
      readonly kind: "step_token";
      readonly step_name: string;
      readonly content: string;
      readonly token_index: number;
      readonly branch_path?: string;
      readonly timestamp_ms: number;
    }
  | {
      readonly kind: "tool_call";
      readonly step_name: string;
      readonly tool_name: string;
      readonly content: string;
      readonly timestamp_ms: number;
    };

export interface Frame {
  readonly event: string;
  readonly id: string;
  readonly data: object;
}

/** Maps an event to its frame, without a number; undefined leaves the event out. */
type Projection = (event: WireEvent) => Omit<Frame, "id"> | undefined;

/** Shows the events of a flow as they are. */
export const raw: Projection = (event) => ({ event: event.kind, data: event });

/** The projection with named events, which carry the trace of their stream. */
export const named =
  (trace_id: string | number): Projection =>
  (event) => {
    switch (event.kind) {
      case "flow_start":
      case "step_start":
      case "step_complete":
        return undefined;
      case "step_token": {
        const { step_name: step, content: token, timestamp_ms } = event;
        return { event: "axon.token", data: { step, trace_id, token, timestamp_ms } };
      }
      case "tool_call": {
        const { step_name: step, tool_name, content, timestamp_ms } = event;
        return { event: "axon.tool_call", data: { step, trace_id, tool_name, content, timestamp_ms } };
      }
      case "flow_complete": {
        const { flow_name: flow, backend, steps_executed, tokens_input, tokens_output, latency_ms, success } = event;
        const counts = { steps_executed, tokens_input, tokens_output, latency_ms };
        return { event: "axon.complete", data: { trace_id, flow, backend, ...counts, success } };
      }
      case "flow_error":
        return { event: "axon.error", data: { trace_id, error: event.error, recoverable: false } };
    }
  };

const isTerminator = ({ kind }: WireEvent): boolean => kind === "flow_complete" || kind === "flow_error";

/** The projections that a request may ask for. */
export const wires = ["raw", "named", "whole"] as const;
export type WireName = (typeof wires)[number];

/** One stream: it numbers its frames, and ends with a terminator unless the flow was cancelled. */
export class Wire {
  readonly #project: Projection;
  #next: number;
  #isOver = false;

  constructor(project: Projection, firstId = 1) {
    this.#project = project;
    this.#next = firstId;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  frames(event: WireEvent): readonly Frame[] {
    this.#isOver ||= isTerminator(event);
    const frame = this.#project(event);
    return frame === undefined ? [] : [this.#numbered(frame)];
  }

  /** Returns the frame with the flow's result, which follows the terminator. */
  end(flow_name: string, { ending, steps_executed }: FlowEnd): Frame {
    return this.#numbered({ event: "flow_end", data: { kind: "flow_end", flow_name, ending, steps_executed } });
  }

  #numbered(frame: Omit<Frame, "id">): Frame {
    const id = `${this.#next}`;
    this.#next += 1;
    return { ...frame, id };
  }

  /** Returns the terminator of a stream whose flow ended without one. */
  broken(flow_name: string): readonly Frame[] {
    if (this.#isOver) return [];
    const error = "executor channel closed without terminator";
    return this.frames({ kind: "flow_error", flow_name, error, timestamp_ms: 0 });
  }
}

/** Begins a stream of server-sent events: readers reconnect after 5 s. */
export const sseStart = "retry: 5000\n\n";
/** Keeps a stream of server-sent events open through proxies. */
export const sseKeepAlive = ": keepalive\n\n";

/** Writes a frame as a server-sent event. */
export const sseText = ({ event, id, data }: Frame): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

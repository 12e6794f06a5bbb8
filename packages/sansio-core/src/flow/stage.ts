/** What a flow does before everybody's eyes while one event is worked in: it shows its steps, and counts what it does. */
import type { Draft } from "../kernel/draft.ts";
import type { StepEvent } from "./event.ts";
import type { DispatchError } from "./failure.ts";
import { type FlowRow, type Strand, stepId } from "./model.ts";
import * as s from "./strand.ts";

type StepType = "use_tool" | "lambda_data_apply" | "par";

/** A step that is over: its index, its name, and what it put out. */
export interface Done {
  readonly step: number;
  readonly name: string;
  readonly success: boolean;
  readonly output: string;
}

export const cancelled: DispatchError = { type: "UpstreamCancelled" };
const closed: DispatchError = { type: "ChannelClosed" };

export class Stage {
  readonly draft: Draft;
  readonly row: FlowRow;
  #walked: number;
  #written: number;

  constructor(draft: Draft, row: FlowRow) {
    this.draft = draft;
    this.row = row;
    this.#walked = row.walked;
    this.#written = row.written;
  }

  get counts(): Pick<FlowRow, "walked" | "written"> {
    return { walked: this.#walked, written: this.#written };
  }

  /** Comes to a node, or to the end of a body; says why the flow may not, if so. */
  come(): DispatchError | undefined {
    this.#walked += 1;
    return this.misfit();
  }

  /** Counts a text that was made; one that is too long is found before the flow goes on. */
  made(text: string): string {
    this.#written += text.length;
    return text;
  }

  /** How much text the flow may still make. */
  get room(): number {
    return Math.max(0, this.draft.options.max_flow_text - this.#written);
  }

  misfit(): DispatchError | undefined {
    if (this.row.cancelled) return cancelled;
    const { max_flow_nodes, max_flow_text } = this.draft.options;
    if (this.#walked > max_flow_nodes) {
      return { type: "LimitExceeded", limit: "max_flow_nodes", allowed: max_flow_nodes };
    }
    if (this.#written <= max_flow_text) return undefined;
    return { type: "LimitExceeded", limit: "max_flow_text", allowed: max_flow_text };
  }

  /** A consumer that is gone is what ends the flow, if its host says so. */
  #show(event: StepEvent): DispatchError | undefined {
    if (this.row.gone) return closed;
    this.draft.emit({ type: "flow.observe", request: this.row.request, event });
    return undefined;
  }

  #path(ground: s.Ground, strand: Strand): { readonly branch_path?: string } {
    const { path } = s.placeOf(ground, strand);
    return path === "" ? {} : { branch_path: path };
  }

  /** The strand with its next step counted, and begun. */
  begun(ground: s.Ground, strand: Strand, step_name: string, step_type: StepType): Strand {
    const { counter: step_index } = strand;
    const path = this.#path(ground, strand);
    const timestamp_ms = this.draft.at;
    const error = this.#show({ kind: "step_start", step_name, step_index, step_type, ...path, timestamp_ms });
    const begun = { ...strand, counter: step_index + 1 };
    return error === undefined ? begun : s.failing(begun, error);
  }

  ended(ground: s.Ground, strand: Strand, { step, name, success, output }: Done): DispatchError | undefined {
    return this.#show({
      kind: "step_complete",
      step_name: name,
      step_index: step,
      success,
      full_output: output,
      tokens_input: 0,
      tokens_output: 0,
      ...this.#path(ground, strand),
      timestamp_ms: this.draft.at,
    });
  }

  /** A step is over: what it put out is bound and shown, and the strand goes on. */
  finished(ground: s.Ground, strand: Strand, binding: string | undefined, done: Done): Strand {
    const next = s.bound(strand, binding, this.made(done.output));
    const error = this.ended(ground, next, done);
    return error === undefined ? s.completed(next, done.output) : s.failing(next, error);
  }

  /** What the step at which the strand is goes by. */
  idOf(ground: s.Ground, strand: Strand): string {
    return stepId(this.row.request, s.placeOf(ground, strand));
  }

  /** The strand waits for what its step has asked of the world. */
  waiting(strand: Strand, type: "call" | "lambda", id: string): Strand {
    return { ...strand, state: { type, id, step: strand.counter - 1, born: this.draft.seq } };
  }
}

/** What a flow shows of itself while it runs, in the words of its wire. */

interface OfStep {
  readonly step_name: string;
  readonly step_index: number;
  /** Where the step stands: absent at the top. */
  readonly branch_path?: string;
}

export type StepEvent =
  | ({ readonly kind: "step_start"; readonly step_type: string; readonly timestamp_ms: number } & OfStep)
  | ({
      readonly kind: "step_complete";
      readonly success: boolean;
      readonly full_output: string;
      readonly tokens_input: number;
      readonly tokens_output: number;
      readonly timestamp_ms: number;
    } & OfStep);

export type FlowExecutionEvent =
  | StepEvent
  | {
      readonly kind: "flow_start";
      readonly flow_name: string;
      readonly backend: string;
      readonly timestamp_ms: number;
    }
  | {
      readonly kind: "flow_complete";
      readonly flow_name: string;
      readonly backend: string;
      readonly success: boolean;
      readonly steps_executed: number;
      readonly tokens_input: number;
      readonly tokens_output: number;
      readonly latency_ms: number;
      readonly timestamp_ms: number;
    }
  | { readonly kind: "flow_error"; readonly flow_name: string; readonly error: string; readonly timestamp_ms: number };

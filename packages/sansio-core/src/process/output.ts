/** Ends of processes as outputs of calls, and the other way round. */
import {
  type Json,
  type ToolCallOutput,
  type ToolControl,
  type ToolFailure,
  type ToolValue,
  decode,
  lift,
  noLimits,
  read,
  render,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { absurd } from "../kernel/error.ts";
import { ProcessAwaitOutput } from "../message/process.ts";
import type { TerminalState } from "./model.ts";

type Raw = { readonly raw?: ToolValue };
type Control = { readonly control?: ToolControl };

/** `null` says as little as no value, in the log as in memory. */
const rawOf = (raw: ToolValue | undefined): Raw => (raw === undefined || raw === null ? {} : { raw });
const controlOf = (control: ToolControl | undefined): Control => (control === undefined ? {} : { control });

/** The tool output of a process that ended so. Where it came from is not kept: it is the tool's. */
export const outputOfAwait = (awaited: ProcessAwaitOutput): ToolCallOutput => {
  const control = controlOf(awaited.control);
  switch (awaited.type) {
    case "success":
      return { outcome: { status: "success", payload: awaited.value }, ...control };
    case "failure": {
      const { class: failureClass, code, message, raw } = awaited;
      const head = { class: failureClass, code, message };
      const payload: ToolFailure = { ...head, source: "tool", retry: { type: "never" }, ...rawOf(raw) };
      return { outcome: { status: "failure", payload }, ...control };
    }
    case "cancelled": {
      const payload = { message: awaited.message, source: "cancellation" as const, ...rawOf(awaited.raw) };
      return { outcome: { status: "cancelled", payload }, ...control };
    }
    default:
      return absurd(awaited);
  }
};

/** How a process ends whose run gave this output. */
export const awaitOfOutput = ({ outcome, control: asked }: ToolCallOutput): ProcessAwaitOutput => {
  const control = controlOf(asked);
  switch (outcome.status) {
    case "success":
      return { type: "success", value: outcome.payload, ...control };
    case "failure": {
      const { class: failureClass, code, message, raw } = outcome.payload;
      return { type: "failure", class: failureClass, code, message, ...rawOf(raw), ...control };
    }
    case "cancelled":
      return { type: "cancelled", message: outcome.payload.message, ...rawOf(outcome.payload.raw), ...control };
    default:
      return absurd(outcome);
  }
};

/** A payload is an encoded value, so that attachments survive; what only looks like one is an ordinary object. */
export const valueOf = (payload: Json): ToolValue => E.getOrElse(() => lift(payload))(decode(payload, noLimits));

/** Wraps a value that is no output itself, as awaiters are told. */
export const wrapOutput = (state: TerminalState, selected: Json): ProcessAwaitOutput => {
  const value = valueOf(selected);
  switch (state) {
    case "completed":
      return { type: "success", value };
    case "failed": {
      const head = { class: "execution", code: "process_failed", message: render(selected) } as const;
      return { type: "failure", ...head, ...rawOf(value) };
    }
    case "cancelled":
      return { type: "cancelled", message: render(selected), ...rawOf(value) };
    default:
      return absurd(state);
  }
};

/** The output in a selected value: one as it is, any other value by the state it ends in. */
export const awaitOutputOf = (state: TerminalState, selected: Json): ProcessAwaitOutput =>
  E.getOrElse(() => wrapOutput(state, selected))(read(ProcessAwaitOutput, selected));

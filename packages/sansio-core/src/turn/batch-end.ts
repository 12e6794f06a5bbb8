/** The calls of an answer have all ended: their results are shown to the model, and a control of theirs may act. */
import type { Json } from "@pawl/tool-value";
import type { CallIn, CallRow } from "../call/model.ts";
import type { Draft } from "../kernel/draft.ts";
import { Invariant } from "../kernel/error.ts";
import { type BatchRef, type SignalOf, answerBatch } from "../kernel/vocabulary.ts";
import { checkpoint } from "./checkpoint.ts";
import { type Act, decideControls, nodeOf } from "./control.ts";
import { append, change, conversationOf, frameOf, observe, put, putFrame, endTurn, saying } from "./conversation.ts";
import { type Entry, type Frame, type ProviderDecision, emptyFrame, withEntries, withHistory } from "./frame.ts";
import type { Conversation, EndedCall, PhaseIn, RunningTurn } from "./model.ts";
import { enterFrame } from "./turn.ts";

// Results.

const completed = (row: CallRow | undefined, ref: string): CallIn<"completed"> => {
  if (row?.phase !== "completed") throw new Invariant(`call ${ref} has not ended, but its batch has`);
  return row;
};

/** Where the output of a call stands: in an event, or with the entry where the core itself made it. */
const endedCall = (row: CallIn<"completed">, edited: { readonly [name: string]: Json }): EndedCall => {
  const { call, tool, output, outputAt, parts } = row;
  const other = edited[call.name];
  return {
    name: call.name,
    tool,
    output,
    ref: {
      ...(outputAt === undefined ? { output } : { seq: outputAt }),
      ...(parts === undefined ? {} : { parts }),
      ...(other === undefined ? {} : { edited: other }),
    },
  };
};

const decisionOf = ({ output: { outcome } }: EndedCall, at: number): ProviderDecision => ({
  at,
  approved: outcome.status === "success",
  ...(outcome.status === "success" ? {} : { reason: outcome.payload.message }),
});

const isRequest = ({ name }: EndedCall): boolean => /\.a\d+$/.test(name);

const resultsOf = (calls: readonly EndedCall[]): Entry => {
  const decisions = calls.filter(isRequest).map(decisionOf);
  const of = calls.filter((call) => !isRequest(call)).map(({ ref }) => ref);
  return decisions.length === 0 ? { type: "results", of } : { type: "results", of, decisions };
};

// Switches.

/** The entries that the nodes of a switch begin a frame with, and the agent that they name. */
const opened = (
  draft: Draft,
  row: RunningTurn,
  act: Act & { readonly type: "switch" },
  of: EndedCall["ref"],
): Frame => {
  const before = frameOf(draft, row.frame);
  const { agents, frames } = conversationOf(draft);
  const known = frames.get(act.frame);
  const nodes = act.nodes.map(nodeOf);
  const named = nodes.findLast((node) => node?.type === "agent");
  const agent =
    named?.type === "agent" ? named.name : (known?.agent ?? (agents.has(act.frame) ? act.frame : before.agent));
  let frame = known ?? emptyFrame(act.frame, agent, draft.seq);
  for (const [at, node] of nodes.entries()) {
    if (node?.type === "history" && known === undefined) frame = withHistory(frame, before);
    if (node?.type === "message") frame = withEntries(frame, { type: "node", of, at });
  }
  return { ...withEntries(frame, { type: "task", of }), agent, entered: draft.seq };
};

/** Frames that nobody has been in for long leave the state, the oldest first. */
const trimFrames = (draft: Draft): void => {
  const { frames, frame } = conversationOf(draft);
  const extra = frames.size - draft.options.max_frames;
  if (extra <= 0) return;
  const others = frames.values().filter(({ id }) => id !== frame);
  const gone = others.toSorted((a, b) => a.entered - b.entered).slice(0, extra);
  change(draft, { frames: gone.reduce((rest, { id }) => rest.delete(id), frames) });
};

/** The turn goes on in another frame: same turn, same budgets, the first route of the frame's agent. */
const switchFrame = (draft: Draft, row: RunningTurn, act: Act & { readonly type: "switch" }, call: EndedCall): void => {
  const frame = opened(draft, row, act, call.ref);
  putFrame(draft, frame);
  change(draft, { frame: frame.id });
  trimFrames(draft);
  observe(draft, row.request, { what: "frame_switched", frame: frame.id, task: act.task });
  enterFrame(draft, { ...row, frame: frame.id, switches: row.switches + 1, route: 0 });
};

// Controls.

/** A batch that has ended: its calls, and the text of the answer that asked for them. */
interface Ended {
  readonly calls: readonly EndedCall[];
  readonly text: string;
}

const act = (draft: Draft, row: RunningTurn, control: Act, { calls, text }: Ended): void => {
  switch (control.type) {
    case "go_on":
      return checkpoint(draft, row);
    case "finish":
      return endTurn(draft, row, { status: "finished", text, value: control.value, by: control.call });
    case "fail":
      return endTurn(draft, row, { status: "failed", code: "tool_error", by: control.call, failure: control.failure });
    case "too_many_switches":
      return endTurn(draft, row, { status: "failed", code: "too_many_switches", by: control.call });
    case "switch":
      return switchFrame(draft, row, control, calls.find(({ name }) => name === control.call) as EndedCall);
  }
};

const inCalling = ({ running }: Conversation, batch: BatchRef) => {
  const phase = running?.phase;
  if (running === undefined || phase?.type !== "calling" || answerBatch(running.request, phase.n) !== batch)
    throw new Invariant(`no turn waits for batch ${batch}`);
  return { row: running, phase };
};

const endedCalls = (draft: Draft, batch: BatchRef, { edited }: PhaseIn<"calling">): readonly EndedCall[] => {
  const refs = draft.batch(batch)?.calls ?? [];
  const calls = refs.map((ref) => endedCall(completed(draft.call(ref), ref), edited));
  draft.dropCalls(refs);
  draft.dropBatch(batch);
  return calls;
};

/** The batch of an answer's calls has ended, as a whole. A cancelled turn ends with it, and no control acts. */
export const onCalled = (draft: Draft, { batch }: SignalOf<"turn.called">): void => {
  const { row: before, phase } = inCalling(conversationOf(draft), batch);
  const triggers = draft.batch(batch)?.triggers ?? [];
  const calls = endedCalls(draft, batch, phase);
  const row = { ...before, triggers: [...before.triggers, ...triggers], hasResults: true };
  append(draft, row, resultsOf(calls));
  if (row.cancelled) return endTurn(draft, row, { status: "stopped", because: "cancelled", ...saying(phase.text) });
  const { agents } = conversationOf(draft);
  const maySwitch = row.switches < draft.options.max_switches;
  const { act: control, ignored } = decideControls(calls, maySwitch, (agent) => agents.has(agent));
  if (ignored.length > 0) observe(draft, row.request, { what: "controls_ignored", controls: ignored });
  act(draft, row, control, { calls, text: phase.text });
};

/** A person changed the arguments of a call: the model is told so beside the result. */
export const onEdited = (draft: Draft, { request, name, args }: SignalOf<"turn.edited">): void => {
  const { running } = conversationOf(draft);
  if (running?.request !== request || running.phase.type !== "calling") return;
  const { phase } = running;
  put(draft, { ...running, phase: { ...phase, edited: { ...phase.edited, [name]: args } } });
};

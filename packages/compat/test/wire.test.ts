import { type Codec, parse, read, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { describe, expect, it } from "vitest";
import { wire } from "./cases.ts";

type WireType = keyof typeof wire;

const rewritten = (type: WireType, text: string): string => {
  const codec = wire[type] as Codec<unknown>;
  const value = pipe(
    parse(text),
    E.chain((input) => read(codec, input)),
  );
  return E.isRight(value)
    ? stringifyRecord(codec.encode(value.right))
    : `${value.left.path.join(".")}: ${value.left.message}`;
};

const ref = '{"id":"a","media_type":{"kind":"image","type":"png"},"byte_len":1}';
const request = `{"model":"m","messages":[{"role":"user"}],"attachments":[{"reference":${ref}}],"tools":[],"tool_choice":"auto","model_variant":null,"generation":{},"session_id":"s","output_spec":null}`;
const prepared = '{"call_id":"c","tool_id":"tool:t","tool_name":"t","args":{"x":1}}';
const output = '{"outcome":{"status":"success","payload":null}}';
const completed = `{"call_id":"c","tool_name":"t","args":{},"output":${output},"model_return":{"call_id":"c","tool_name":"t","parts":[]},"duration_ms":3,"replay":null}`;
const done = `{"status":"done","result":${completed}}`;
const key =
  '{"scope":{"type":"process","process_id":"p"},"wait":{"type":"custom","key":"k"},"key_id":"i","signature":"s"}';
const pending = `{"status":"pending","key":${key},"pending":{"on_timeout":"fail_turn","on_cancel":"ignore"},"duration_ms":7}`;
const registration =
  '{"id":"p","input":{"type":"external","metadata":null},"identity":{"kind":"external"},"event_types":[],"provenance":{"originator":{"type":"host"}}}';
const process =
  '{"id":"p","registration_hash":"h","input":{"type":"external","metadata":null},"identity":{"kind":"external"},"event_types":[],"provenance":{"originator":{"type":"host"}},"created_at_ms":1,"updated_at_ms":2,"status":{"state":"running"}}';
const event =
  '{"process_id":"p","sequence":1,"event_type":"signal.n","payload":null,"invocation":{"scope":{"session_id":"runtime"},"subject":{"type":"process_event","process_id":"p","sequence":1,"event_type":"signal.n"},"caused_by":{"type":"process","process_id":"p"}},"semantics":{},"occurred_at":{"secs_since_epoch":1,"nanos_since_epoch":0}}';
const scope = '{"session_id":"s","agent_frame_id":"f"}';

const commands: readonly string[] = [
  `{"type":"llm_call","request":${request}}`,
  `{"type":"direct","request":${request},"usage_source":"u"}`,
  `{"type":"tool_call","call":${prepared}}`,
  `{"type":"tool_batch","batch":{"batch_id":"b","calls":[{"call":${prepared},"replay_suffix":"child:0:c"}]}}`,
  '{"type":"exec_code","language":"ts","code":"1"}',
  '{"type":"checkpoint","checkpoint":"after_work"}',
  '{"type":"checkpoint","checkpoint":"before_completion"}',
  '{"type":"sync_execution_environment","update_machine_config":true}',
  '{"type":"sleep","duration_ms":5}',
  `{"type":"await_event","key":${key}}`,
  '{"type":"durable_step","step_id":"s","input":null}',
];
const processCommands: readonly string[] = [
  `{"op":"start","registration":${registration}}`,
  `{"op":"start","registration":${registration},"grant":{"a":1},"execution_context":{"b":1}}`,
  `{"op":"list","session_scope":${scope},"mode":"all"}`,
  `{"op":"transfer","from_scope":${scope},"to_scope":{"session_id":"t"},"process_ids":["p"]}`,
  '{"op":"delete_session","session_id":"s"}',
  '{"op":"await","process_id":"p"}',
  '{"op":"cancel","process_id":"p","reason":null}',
  '{"op":"signal","process_id":"p","signal_name":"n","signal_id":"i","request":{"event_type":"signal.n","payload":1,"replay":{"key":"k"}}}',
];
const processOutcomes: readonly string[] = [
  `{"op":"start","record":${process}}`,
  `{"op":"list","entries":[[{"g":1},${process}]]}`,
  '{"op":"transfer"}',
  '{"op":"delete_session","report":{"orphaned":[]}}',
  '{"op":"await","output":{"type":"success","value":1}}',
  `{"op":"cancel","record":${process}}`,
  `{"op":"signal","event":${event}}`,
];
const outcomes: readonly string[] = [
  '{"type":"llm_call","result":{"Ok":{"text":"t"}},"text_streamed":false}',
  '{"type":"direct","result":{"Err":{"message":"m"}}}',
  `{"type":"tool_call","launch":${pending}}`,
  `{"type":"tool_batch","launches":[${done},${pending}],"triggers":[{"occurrence_id":"o"}]}`,
  '{"type":"process","result":{"op":"transfer"}}',
  '{"type":"exec_code","result":{"Ok":null}}',
  '{"type":"checkpoint","result":{"Ok":{}}}',
  '{"type":"sync_execution_environment","result":{"Err":"e"}}',
  '{"type":"sleep"}',
  '{"type":"await_event","resolution":{"status":"timeout"}}',
  '{"type":"durable_step","value":null}',
];
/** Texts that come out as they went in. */
const stable: readonly (readonly [WireType, string])[] = [
  ...commands.map((text): readonly [WireType, string] => ["RuntimeEffectCommand", text]),
  ...processCommands.map((text): readonly [WireType, string] => ["ProcessCommand", text]),
  ...processCommands.map((text): readonly [WireType, string] => [
    "RuntimeEffectCommand",
    `{"type":"process","command":${text}}`,
  ]),
  ...processOutcomes.map((text): readonly [WireType, string] => ["ProcessOutcome", text]),
  ...outcomes.map((text): readonly [WireType, string] => ["RuntimeEffectOutcome", text]),
  [
    "RuntimeEffectEnvelope",
    '{"invocation":{"scope":{"session_id":"s"},"subject":{"type":"effect","effect_id":"e","kind":"sleep"},"replay":{"key":"r"}},"command":{"type":"sleep","duration_ms":1}}',
  ],
  ["RuntimeEffectControllerError", '{"code":"anything","message":"m"}'],
  ["PendingToolCall", '{"call_id":"c","tool_name":"t","args":null,"replay":null}'],
  ["PendingToolCall", '{"call_id":"c","tool_name":"t","args":{},"replay":{"item_id":"i","opaque":[1]}}'],
  ["CompletedToolCall", completed],
  ["ToolCallLaunch", done],
  ["ToolCallLaunch", pending],
  ["TurnOutcome", '{"finished":{"assistant_message":{"text":"t"}}}'],
  ["TurnOutcome", '{"finished":{"submitted_value":{"value":null}}}'],
  ["TurnOutcome", '{"finished":{"tool_value":{"tool_name":"t","value":[1]}}}'],
  ["TurnOutcome", '{"agent_frame_switch":{"frame_id":"f","task":"t"}}'],
  ["TurnOutcome", '{"stopped":"max_turns"}'],
  ["TurnOutcome", '{"stopped":{"submitted_error":{"value":1}}}'],
  ["TurnOutcome", '{"stopped":{"tool_error":{"tool_name":"t","value":1}}}'],
];

describe("a record", () => {
  for (const [type, text] of stable) {
    it(`is written as it is read: ${type} ${text.slice(0, 60)}`, () => {
      expect(rewritten(type, text)).toBe(text);
    });
  }

  it("leaves out empty fields, and writes required ones", () => {
    const launches = '{"type":"tool_batch","launches":[]}';
    expect(rewritten("RuntimeEffectOutcome", launches.replace("[]", '[],"triggers":[]'))).toBe(launches);
    const start = `{"op":"start","registration":${registration}}`;
    expect(rewritten("ProcessCommand", start.replace(/\}$/, ',"grant":null,"execution_context":{}}'))).toBe(start);
    expect(rewritten("TurnOutcome", '{"agent_frame_switch":{"frame_id":"f"}}')).toBe(
      '{"agent_frame_switch":{"frame_id":"f","task":null}}',
    );
  });

  it("is refused with the place of the fault", () => {
    expect(rewritten("RuntimeEffectCommand", '{"type":"nap"}')).toContain("type: unknown variant `nap`");
    expect(rewritten("RuntimeEffectOutcome", '{"type":"direct","result":{}}')).toContain("result: invalid type: map");
    expect(rewritten("ProcessOutcome", '{"op":"list","entries":[[1]]}')).toBe(
      "entries.0: invalid length, expected a grant and its process",
    );
    expect(rewritten("ProcessOutcome", '{"op":"list","entries":[[1,{"id":2}]]}')).toBe(
      "entries.0.1.id: invalid type: integer `2`, expected a string",
    );
    const inline = request.replace(`"reference":${ref}`, '"bytes":"AA=="');
    expect(rewritten("RuntimeEffectCommand", `{"type":"llm_call","request":${inline}}`)).toBe(
      "request.attachments.0: missing field `reference`",
    );
  });
});

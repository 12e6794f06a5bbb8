import { parse, read, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { ProcessEvent, ProcessRecord, ProcessRegistration } from "../../src/message/process.ts";
import { completionRequest, recordOf } from "../../src/process/registration.ts";
import { wireCodecs } from "../cases/wire.ts";
import { append, eventType, processRow, registration, right } from "./world.ts";

type WireType = keyof typeof wireCodecs;

const rewritten = (type: WireType, text: string): string => {
  const codec = wireCodecs[type] as (typeof wireCodecs)["SessionScope"];
  return stringifyRecord(codec.encode(right(read(codec, right(parse(text))))));
};

/** Texts that are written as they are read. */
const stable: readonly (readonly [WireType, string])[] = [
  ["ProcessInput", '{"type":"engine","kind":"k","payload":null}'],
  ["ProcessInput", '{"type":"external","metadata":{"b":1}}'],
  ["ProcessInput", '{"type":"session_turn","create_request":{},"turn_input":"t","output_contract":null}'],
  ["ProcessInput", '{"type":"tool_call","call":{"call_id":"c","tool_id":"tool:t","tool_name":"t","args":{}}}'],
  [
    "PreparedToolCall",
    '{"call_id":"c","tool_id":"i","tool_name":"t","args":1,"replay":{"item_id":"x"},"prepared_payload":{}}',
  ],
  ["ProcessIdentity", '{"kind":"tool","label":"t","definition":{"v":1}}'],
  ["ProcessProvenance", '{"originator":{"type":"host"}}'],
  [
    "ProcessProvenance",
    '{"originator":{"type":"session","scope":{"session_id":"s","agent_frame_id":"f"}},"caused_by":{"type":"tool_call","session_id":"s","call_id":"c"}}',
  ],
  ["CausalRef", '{"type":"effect","session_id":"s","effect_id":"e"}'],
  ["ProcessEventType", '{"name":"x","payload_schema":{"schema":{}},"semantics":{}}'],
  [
    "ProcessEventType",
    '{"name":"x","payload_schema":{"schema":{"type":"object"}},"semantics":{"terminal":{"state":"failed","await_output":{"pointer":"/e"}},"wake":{"when":{"present":"/w"},"input":"payload","dedupe_key":{"selector":{"const":1}}}}}',
  ],
  ["ProcessStatus", '{"state":"running"}'],
  ["ProcessStatus", '{"state":"completed","await_output":{"type":"success","value":null}}'],
  ["ProcessAwaitOutput", '{"type":"failure","class":"execution","code":"c","message":"m","raw":[1]}'],
  ["ProcessAwaitOutput", '{"type":"cancelled","message":"m","control":{"type":"finish","value":1}}'],
  [
    "ProcessAwaitOutput",
    '{"type":"success","value":{"$lash_tool_value":"attachment","ref":{"byte_len":9,"id":"b","media_type":{"kind":"image","type":"jpeg"}}}}',
  ],
  [
    "ProcessWait",
    '{"kind":{"kind":"signal","name":"go","event_type":"signal.go","key":"process:p:signal.go:1","ordinal":1},"since_ms":5}',
  ],
  [
    "ProcessHandleSummary",
    '{"__handle__":"process","id":"p","process_id":"p","descriptor":{"kind":"tool"},"status":"failed"}',
  ],
  [
    "AwaitEventKey",
    '{"scope":{"type":"turn","session_id":"s","turn_id":"t"},"wait":{"type":"custom","key":"k"},"key_id":"i","signature":"x"}',
  ],
  [
    "ProcessEventAppendRequest",
    '{"event_type":"x","payload":null,"replay":{"key":"k"},"wake_target_scope":{"session_id":"s"}}',
  ],
];

describe("on the wire", () => {
  for (const [type, text] of stable) {
    it(`a ${type} stays as it is: ${text.slice(0, 60)}`, () => expect(rewritten(type, text)).toBe(text));
  }
  it("defaults are written out, and null optionals are left away", () => {
    expect(rewritten("ProcessInput", '{"type":"external"}')).toBe('{"type":"external","metadata":null}');
    expect(
      rewritten(
        "ProcessEventType",
        '{"name":"x","payload_schema":{"schema":{}},"semantics":{"wake":{"input":"payload"}}}',
      ),
    ).toBe(
      '{"name":"x","payload_schema":{"schema":{}},"semantics":{"wake":{"input":"payload","dedupe_key":"event_identity"}}}',
    );
    expect(rewritten("ProcessAwaitOutput", '{"type":"cancelled","message":"m","raw":null,"control":null}')).toBe(
      '{"type":"cancelled","message":"m"}',
    );
    expect(
      rewritten(
        "ProcessRegistration",
        '{"id":"p","input":{"type":"external"},"identity":{"kind":"k"},"provenance":{"originator":{"type":"host"}}}',
      ),
    ).toBe(
      '{"id":"p","input":{"type":"external","metadata":null},"identity":{"kind":"k"},"event_types":[],"provenance":{"originator":{"type":"host"}}}',
    );
  });
  it("what does not fit says where", () => {
    const wrong = { ...registration([eventType("x")]), event_types: [{ name: "x", payload_schema: {} }] };
    expect(read(ProcessRegistration, wrong)).toEqual(
      E.left({
        code: "invalid_record",
        path: ["event_types", 0, "payload_schema"],
        message: "missing field `schema`",
      }),
    );
  });
  it("records and events are read back as they were", () => {
    const { row, event } = right(
      append(processRow([eventType("x")]), completionRequest("p1", { type: "success", value: 1 })),
    );
    const record = recordOf(row);
    expect(read(ProcessRecord, ProcessRecord.encode(record))).toEqual(E.right(record));
    expect(read(ProcessEvent, ProcessEvent.encode(event))).toEqual(E.right(event));
    expect(Object.keys(ProcessRecord.encode(record) as object)).toEqual([
      "id",
      "registration_hash",
      "input",
      "identity",
      "event_types",
      "provenance",
      "created_at_ms",
      "updated_at_ms",
      "status",
    ]);
  });
});

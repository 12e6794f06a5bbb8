/** A protocol that is released stands: its golden logs replay for ever, and its events are read for ever. */
import { currentProtocol } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { files, textOf } from "../project.ts";
import { type Frozen, frozenFile, goldenOf } from "./frozen.ts";
import { eventShapes, lostIn } from "./shape.ts";

const frozen = files
  .filter((file) => /^test\/freeze\/protocol-\d+\.json$/.test(file))
  .map((file) => JSON.parse(textOf(file)) as Frozen);

const whatToDo = (protocol: number): string =>
  `protocol ${protocol} is frozen. A change of what the core does, writes or reads wants a new protocol number, with a ` +
  `branch in packages/sansio-core/src/kernel/protocol.ts and golden logs of its own; \`pnpm freeze\` records it before its ` +
  `release. Only before the release of ${protocol} itself \`pnpm freeze\` may record ${protocol} anew`;

/** Whatever is recorded, and is not so today. */
const changed = (recorded: { readonly [name: string]: string }, found: { readonly [name: string]: string }) =>
  Object.entries(recorded).flatMap(([name, was]) => (found[name] === was ? [] : [{ name, was, is: found[name] }]));

describe("a protocol that is frozen", () => {
  it("is each one up to today's, which may be open", () => {
    const protocols = frozen.map(({ protocol }) => protocol).toSorted((a, b) => a - b);
    expect(protocols).toEqual(Array.from({ length: protocols.length }, (_, i) => i + 1));
    expect([currentProtocol - 1, currentProtocol]).toContain(protocols.at(-1));
    for (const { protocol } of frozen) expect(files).toContain(frozenFile(protocol));
  });

  it.each(frozen)("keeps its golden logs to the byte, and has no others: $protocol", ({ protocol, golden }) => {
    const found = goldenOf(protocol);
    expect(changed(golden, found), whatToDo(protocol)).toEqual([]);
    expect(Object.keys(found), whatToDo(protocol)).toEqual(Object.keys(golden));
  });

  it.each(frozen)("keeps its types of events with all of their fields: $protocol", ({ protocol, events }) => {
    const found = eventShapes();
    const lost = Object.entries(events).flatMap(([type, shape]) => lostIn(type, shape, found[type] ?? "nothing"));
    expect(lost, whatToDo(protocol)).toEqual([]);
    if (protocol === currentProtocol) expect(changed(found, events), whatToDo(protocol)).toEqual([]);
  });
});

describe("a shape of today", () => {
  const was =
    "{ call: a string, cause: a cause `lost` or `kept`, result: status { ok: { value: value JSON }, err: { code: u64 } } }";
  const lost = (is: string): readonly string[] => lostIn("event", was, is);

  it("may have more fields, members and words than it had", () => {
    const more = was
      .replace("call: a string", "call: a string, life: u64")
      .replace("err: {", "late: {  }, err: { by: u64,");
    expect(lost(more.replace("`lost` or `kept`", "one of `lost`, `new`, `kept`"))).toEqual([]);
  });

  it.each([
    ["a field", "call: a string, ", "", "event.call: was a string, is nothing"],
    ["a word", "`lost` or `kept`", "`lost`", "event.cause: was a cause `lost` or `kept`, is a cause `lost`"],
    ["a member", ", err: { code: u64 }", "", "event.result.err: was { code: u64 }, is nothing"],
    ["the codec of a field", "code: u64", "code: a string", "event.result.err.code: was u64, is a string"],
    ["the tag of a union", "result: status {", "result: type {", expect.stringMatching(/^event\.result: was status/)],
  ])("has not lost %s", (_, before, after, found) => {
    expect(lost(was.replace(before, after))).toEqual([found]);
  });
});

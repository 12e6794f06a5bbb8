/** A protocol that is released stands: its golden logs replay for ever, and its events are read for ever. */
import { currentProtocol } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { files, textOf } from "../project.ts";
import { type Frozen, frozenFile, goldenOf } from "./frozen.ts";
import { eventShapes } from "./shape.ts";

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
  it("is each one up to today's", () => {
    const protocols = frozen.map(({ protocol }) => protocol).toSorted((a, b) => a - b);
    expect(protocols).toEqual(Array.from({ length: currentProtocol }, (_, i) => i + 1));
    for (const { protocol } of frozen) expect(files).toContain(frozenFile(protocol));
  });

  it.each(frozen)("keeps its golden logs to the byte, and has no others: $protocol", ({ protocol, golden }) => {
    const found = goldenOf(protocol);
    expect(changed(golden, found), whatToDo(protocol)).toEqual([]);
    expect(Object.keys(found), whatToDo(protocol)).toEqual(Object.keys(golden));
  });

  it.each(frozen)("keeps its types of events, and today's their fields: $protocol", ({ protocol, events }) => {
    const found = eventShapes();
    expect(
      Object.keys(events).filter((type) => !(type in found)),
      whatToDo(protocol),
    ).toEqual([]);
    if (protocol === currentProtocol) expect(changed(found, events), whatToDo(protocol)).toEqual([]);
  });
});

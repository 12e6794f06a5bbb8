/** A short log to read, to cut and to spoil. */
import { Tape, tool } from "../golden/tape.ts";
import { ask, settle, step, stepped, submit } from "../golden/event.ts";

const tape = Tape.open([tool("durable")]);
tape.tell(submit("r", { c1: "durable" }), "call_started c1", "execute r:c1 1.1").after(20);
tape.tell(ask("r:c1", "a", step("again", { note: 'a "quoted" line\n, é😀' })), "step.run a");
tape.tell(ask("r:c1", "nap", { kind: "sleep", ms: 1000 }));
tape.tell(
  stepped("r:c1", "a", { ["__proto__"]: 0, big: 123456789012345678901234567890n, list: [1.5, []] }),
  "answer a of 6",
);
tape.tell(settle("r:c1"), "call_completed c1", "reply r");

/** With their line feeds; the header first. */
export const lines: readonly string[] = tape.lines;
export const commands: readonly string[] = tape.commands;
export const text = lines.join("");
export const end = tape.state;

/** The lines with one of them changed; number 1 is the header. */
export const withLine = (number: number, change: (line: string) => string): readonly string[] =>
  lines.map((line, i) => (i === number - 1 ? change(line) : line));

/** The lines with the record of one of them changed. */
export const withRecord = (
  number: number,
  change: (record: { [field: string]: unknown }) => object,
): readonly string[] =>
  withLine(number, (line) => `${JSON.stringify(change(JSON.parse(line) as { [field: string]: unknown }))}\n`);

/** A fault as a person reads it. */
import { formatPath, stringify } from "@pawl/tool-value";
import { commandsLine } from "./commands.ts";
import type { Difference } from "./difference.ts";
import type { Fault } from "./fault.ts";

const jsonText = (json: Difference["found"]): string => (json === undefined ? "nothing" : stringify(json));

const differenceText = ({ path, expected, found }: Difference): string =>
  `  ${formatPath(path)}: expected ${jsonText(expected)}, found ${jsonText(found)}`;

/** What is wrong and where; then each difference; then, in full, what today's core does instead. */
export const describeFault = (fault: Fault): string => {
  const seq = fault.seq === undefined ? "" : `, event ${fault.seq}`;
  const path = "path" in fault ? ` at ${formatPath(fault.path)}` : "";
  const head = `${fault.code} in line ${fault.line}${seq}: ${fault.message}${path}`;
  if (!("today" in fault)) return head;
  const today = `  today: ${commandsLine(fault.seq, fault.today).slice(0, -1)}`;
  return [head, ...fault.differences.map(differenceText), today].join("\n");
};

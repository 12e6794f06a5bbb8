/** The refusal of a request whose id stands for another one: it names what differs, as far as the log still has the first. */
import type { EventOf } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import { differentFields } from "../body/divergence.ts";
import { Refused } from "../error.ts";
import type { Access } from "../scope/access.ts";
import { eventAt } from "../scope/history.ts";

export type Submitted = EventOf<"request.submitted" | "flow.submitted" | "turn.submitted">;

/** Returns what the id of a request stands for. */
const subjectOf = (event: Submitted): Json => {
  const { execution_scope } = event;
  const own = execution_scope === undefined ? {} : { execution_scope };
  if (event.type === "request.submitted") return { ...own, calls: event.calls } as unknown as Json;
  if (event.type === "turn.submitted") return { ...own, messages: event.messages } as unknown as Json;
  const { flow, bindings, unresolved } = event;
  return { ...own, flow, bindings, unresolved } as unknown as Json;
};

/** Writes a JSON pointer as a program would: `calls[0].args.amount`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((field, part) => (/^\d+$/.test(part) ? `${field}[${part}]` : `${field}${field && "."}${part}`), "");

/** Says which field differs first from the request that event `born` submitted under this id. */
const differenceTo = async (access: Access, event: Submitted, born: number): Promise<string> => {
  await access.runner.whenDurable(born);
  const { event: before } = await access.values.of(await eventAt(access, born));
  if (before.type !== event.type) return "it was of another kind";
  const [field] = differentFields("", subjectOf(before as Submitted), subjectOf(event));
  if (field === undefined) return "it had other tools";
  const { path, expected = "nothing", found = "nothing" } = field;
  return `\`${fieldOf(path)}\` was ${expected}, found ${found}`;
};

/** Makes the refusal of a request whose id another one has, which event `born` submitted. */
export const conflictWith = async (
  access: Access,
  event: Submitted,
  born: number,
): Promise<{ readonly code: string; readonly message: string }> => {
  const difference = await differenceTo(access, event, born).catch((thrown: unknown) => {
    if (thrown instanceof Refused) return "the log does not reach back to it"; // Retention took it.
    throw thrown;
  });
  const message = `request \`${event.request}\` was submitted with another body (${difference}): other calls need another id`;
  return { code: "request_conflict", message };
};

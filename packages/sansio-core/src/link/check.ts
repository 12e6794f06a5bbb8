/** The invariants of links, one function each: what is broken, and in which link. */
import { hasRule } from "../kernel/protocol.ts";
import { firstBroken } from "../kernel/error.ts";
import type { Check } from "../concern.ts";
import { sessionScopeId } from "../identity/scope.ts";
import type { Command, State } from "../kernel/vocabulary.ts";
import { scopeOfHolder } from "./handle.ts";
import { type LinkRow, sendingsOf } from "./model.ts";
import type { OutboxRow } from "./outbox.ts";
import { mostOf } from "../scope/concern.ts";

const firstOf = (state: State, broken: (row: LinkRow) => string | undefined): string | undefined =>
  firstBroken(state.links.values(), (row) => `link with \`${row.peer}\``, broken);

export const checkL1: Check = (state) =>
  firstOf(state, ({ outgoing }) => {
    if (outgoing === undefined) return undefined;
    const { sent, heard, unanswered } = outgoing;
    const invalid = [...unanswered].find(([key, { number }]) => key !== number || number <= heard || number > sent);
    if (invalid !== undefined) return `L1: message ${invalid[0]} is unanswered, between ${heard} and ${sent}`;
    return heard === sent || unanswered.has(heard + 1)
      ? undefined
      : `L1: message ${heard + 1} is answered, and unheard`;
  });

export const checkL2: Check = (state) =>
  firstOf(state, ({ outgoing }) => {
    if (outgoing === undefined) return undefined;
    const { phase, unanswered } = outgoing;
    const last = unanswered.values().filter(({ message }) => message.type === "link.closed").length;
    const expected = phase === "closing" ? 1 : 0;
    if (last !== expected) return `L2: it is ${phase}, with ${last} last words`;
    if (phase === "closing" && unanswered.size !== 1) return `L2: it closes with ${unanswered.size} unanswered`;
    return phase === "draining" && unanswered.size === 0 ? "L2: it is drained, and does not close" : undefined;
  });

export const checkL3: Check = (state) =>
  firstOf(state, ({ incoming }) => {
    const invalid = incoming === undefined ? [] : incoming.answers.keys().filter((n) => n > incoming.received);
    return invalid.length === 0 ? undefined : `L3: ${invalid.join()} is answered, and was not received`;
  });

export const checkL4: Check = (state) =>
  firstOf(state, ({ outgoing }) =>
    outgoing === undefined || outgoing.phase === "closing" || outgoing.waiting.length === 0
      ? undefined
      : `L4: ${outgoing.waiting.length} messages wait while it is ${outgoing.phase}`,
  );

export const checkL5: Check = (state, commands) => {
  const issued = commands.flatMap((command) => (command.type === "send" ? [command] : []));
  return firstOf(state, (row) => {
    const again = issued.filter(({ to }) => to === row.peer).map(({ number }) => number);
    const expected = sendingsOf(row).map(({ number }) => number);
    return again.join() === expected.join()
      ? undefined
      : `L5: sends ${again.join()} again, expected ${expected.join()}`;
  });
};

export const checkL6: Check = (state) => {
  const invalid = [...state.links].find(([key, row]) => key !== row.peer);
  if (invalid !== undefined) return `L6: the link with \`${invalid[1].peer}\` is kept as \`${invalid[0]}\``;
  return firstOf(state, ({ incoming, outgoing }) =>
    (incoming ?? outgoing) === undefined ? "L6: it has no end" : undefined,
  );
};

/** A counter of one link that fell, or a link whose name did. */
const fell = (before: LinkRow, after: LinkRow | undefined): string | undefined => {
  const out = [before.outgoing, after?.outgoing] as const;
  const ins = [before.incoming, after?.incoming] as const;
  if (out[0] !== undefined && out[1] !== undefined) {
    if (out[1].link < out[0].link) return `link ${out[0].link} became ${out[1].link}`;
    if (out[1].link === out[0].link && (out[1].sent < out[0].sent || out[1].heard < out[0].heard))
      return "sent or heard";
  }
  if (ins[0] === undefined || ins[1] === undefined || ins[1].link !== ins[0].link) return undefined;
  return ins[1].received < ins[0].received ? "received" : undefined;
};

export const checkL7Change = (before: State, after: State): string | undefined => {
  for (const row of before.links.values()) {
    const what = fell(row, after.links.get(row.peer));
    if (what !== undefined) return `link with \`${row.peer}\`: L7: ${what} went back`;
  }
  return undefined;
};

export const checkL8Change = (before: State, after: State): string | undefined => {
  for (const { peer, protocol } of after.links.values()) {
    if (protocol === undefined) continue;
    if (!hasRule(after.scope.protocol, "link_protocols")) return `link with \`${peer}\`: L8: its protocol is known`;
    const last = before.links.get(peer)?.protocol ?? 1;
    if (protocol < last) return `link with \`${peer}\`: L8: protocol ${last} became ${protocol}`;
  }
  return undefined;
};

export const linkChecks: readonly Check[] = [checkL1, checkL2, checkL3, checkL4, checkL5, checkL6];
export const linkChangeChecks = [checkL7Change, checkL8Change] as const;

// The outbox.

const isOfOutbox = (command: Command): command is Extract<Command, { readonly type: OutboxRow["type"] }> =>
  command.type === "external.cancel" || command.type === "wake.deliver" || command.type === "session.tell";

export const checkO1 = (state: State, commands: readonly Command[]): string | undefined => {
  const issued = commands.flatMap((command) => (isOfOutbox(command) ? [command.key] : []));
  const once = new Set(issued);
  const invalid = [...state.outbox].find(([key, row]) => row.key !== key || !once.has(key));
  if (invalid !== undefined) return `outbox \`${invalid[0]}\`: O1: it is not sent again`;
  return issued.length === state.outbox.size ? undefined : `O1: ${issued.length} sent of ${state.outbox.size}`;
};

export const outboxChecks = [checkO1] as const;

// Handles.

export const checkH1: Check = ({ handles, scope }) => {
  for (const { process, holders } of handles.values()) {
    const names = new Set(holders.map(sessionScopeId));
    if (names.size !== holders.length || names.size === 0)
      return `handle of \`${process}\`: H1: ${holders.length} holders`;
    const invalid = holders.find((holder) => scopeOfHolder(holder) !== scope.id);
    if (invalid !== undefined)
      return `handle of \`${process}\`: H1: \`${sessionScopeId(invalid)}\` is another session's`;
  }
  return undefined;
};

const endedOf = ({ handles }: State): number => handles.values().filter((row) => row.ended !== undefined).length;

/** A smaller bound may leave more. */
export const checkH2Change = (before: State, after: State): string | undefined => {
  const max = mostOf("max_ended_handles", before, after);
  return endedOf(after) <= Math.max(max, endedOf(before)) ? undefined : `H2: ${endedOf(after)} ended handles of ${max}`;
};

export const checkH3: Check = ({ handles }) => {
  for (const [key, { process, status, ended }] of handles) {
    if (key !== process) return `handle of \`${process}\`: H3: it is kept as \`${key}\``;
    if ((ended === undefined) !== (status === "running"))
      return `handle of \`${process}\`: H3: ${status}, ended at ${ended}`;
  }
  return undefined;
};

export const checkH4: Check = ({ deletion, handles, scope }) => {
  if (deletion === undefined) return undefined;
  if (!scope.id.startsWith("session:")) return `H4: \`${scope.id}\` is deleted, and no session`;
  if (handles.size > 0) return `H4: deleted, with ${handles.size} handles`;
  const { asked, orphaned, preserved } = deletion;
  const twice = [asked, orphaned, preserved].find((list) => new Set(list).size !== list.length);
  return twice === undefined ? undefined : `H4: a process is named twice in ${twice.join()}`;
};

export const checkH4Change = (before: State, after: State): string | undefined =>
  before.deletion === undefined || after.deletion !== undefined ? undefined : "H4: a deletion was undone";

export const handleChecks: readonly Check[] = [checkH1, checkH3, checkH4];
export const handleChangeChecks = [checkH2Change, checkH4Change] as const;

/** What is issued again: messages until they are answered, entries of the outbox until they are acknowledged. */
import type { Born } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";
import { sendingsOf, unansweredOf } from "./model.ts";

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

const ofOutbox = (state: State): Born[] =>
  state.outbox
    .values()
    .toSorted(byKey)
    .map(({ born, ...command }, index) => ({ born, index, command }));

/** Each link's messages in their order; of two links' at one place in the log those to the lesser peer first. */
const ofLinks = (state: State): Born[] =>
  state.links
    .values()
    .toSorted((a, b) => (a.peer < b.peer ? -1 : 1))
    .flatMap(sendingsOf)
    .map(({ born, ...sending }) => ({ born, index: sending.number, command: { type: "send", ...sending } }));

export const outstandingOfLinks = (state: State): Born[] => [...ofOutbox(state), ...ofLinks(state)];

export const hasWords = ({ outbox, links }: State): boolean =>
  outbox.size > 0 || links.some((row) => unansweredOf(row) > 0);

/**
 * What few bodies ask for, in a page that has not loaded the code for it: the first word of it loads the code, and the
 * body stands still meanwhile. The key of what is asked for is known when the code is there.
 */
import { type Asking, type Durable, durable } from "./asking.ts";
import type { SeldomFacets } from "./seldom.ts";

type Verb = (...of: never[]) => Promise<unknown>;
type Facet = keyof SeldomFacets;
type Grouped = { readonly [F in Facet as SeldomFacets[F] extends Verb ? never : F]: SeldomFacets[F] };

const verbs: { readonly [F in Exclude<Facet, keyof Grouped>]: 1 } = {
  sleep: 1,
  awaitEventJson: 1,
  host: 1,
  batch: 1,
  race: 1,
  any: 1,
  all: 1,
  allSettled: 1,
  emitProcessEvent: 1,
};

const groups: { readonly [F in keyof Grouped]: { readonly [V in keyof Grouped[F]]: 1 } } = {
  processes: {
    start: 1,
    await: 1,
    cancel: 1,
    signal: 1,
    listHandles: 1,
    listAllHandles: 1,
    listHandlesFiltered: 1,
    validateHandles: 1,
    transferHandles: 1,
    transferHandlesToFrame: 1,
    cancelAll: 1,
    cancelUnreferencedHandles: 1,
  },
  processEvents: { emit: 1, emitRequest: 1, waitEventAfter: 1, awaitSignal: 1 },
  handleTools: { startToolCall: 1, awaitProcess: 1, signalProcess: 1, cancelProcess: 1 },
  sessions: {
    model: 1,
    snapshotCurrent: 1,
    snapshot: 1,
    createSession: 1,
    closeSession: 1,
    startTurn: 1,
    toolCatalog: 1,
    sharedToolCatalog: 1,
    setToolsAvailability: 1,
  },
  triggers: { emit: 1 },
  directCompletions: { complete: 1 },
  background: { spawn: 1 },
  tasks: { list: 1, read: 1, create: 1, update: 1, messages: 1, message: 1, cancel: 1, wait: 1 },
  schedules: { create: 1, list: 1, cancel: 1 },
};

interface Verbs {
  readonly [verb: string]: Verb;
}

export const awaitedFacets = (asking: Asking): SeldomFacets => {
  let facets: SeldomFacets | undefined;

  /** `of`: what has the verb. */
  const asked =
    (of: (facets: SeldomFacets) => object, verb: string) =>
    (...given: never[]): Durable<unknown> => {
      let key: string | undefined;
      const promise = asking.with((code) => {
        facets ??= code.seldomFacets(asking);
        const made = (of(facets) as Verbs)[verb]?.(...given) as Durable<unknown>;
        ({ key } = made);
        return made;
      });
      return Object.defineProperty(durable("", promise), "key", { get: () => key });
    };

  const allOf = (names: object, of: (facets: SeldomFacets) => object): object =>
    Object.fromEntries(Object.keys(names).map((verb) => [verb, asked(of, verb)]));

  return {
    ...allOf(verbs, (all) => all),
    ...Object.fromEntries(
      Object.entries(groups).map(([group, names]) => [group, allOf(names, (all) => all[group as keyof Grouped])]),
    ),
  } as unknown as SeldomFacets;
};

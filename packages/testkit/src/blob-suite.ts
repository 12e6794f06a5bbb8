/** What every store of blobs must do, as named checks that any test runner can run. */
import type { BlobStore } from "@pawl/runtime";
import { same } from "./journal/rig.ts";

/** One store, which processes open and leave. */
export interface BlobRig {
  /** The store as one more process sees it. */
  readonly open: () => Promise<BlobStore>;
  /** Time passes by the store's clock. */
  readonly pass: (ms: number) => void;
}

export interface BlobCheck {
  readonly name: string;
  /** Throws where the store does otherwise. */
  readonly run: (rig: BlobRig) => Promise<void>;
}

const named = (digit: string): string => digit.repeat(64);
const [one, two, three] = [named("1"), named("2"), named("3")];

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const textAt = async (store: BlobStore, name: string): Promise<string | undefined> => {
  const bytes = await store.read("s", name);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
};

const graceMs = 1000;
const oldOf = async (store: BlobStore): Promise<readonly string[]> => (await store.old(graceMs)).toSorted();

/** Lists the checks that every store of blobs has to pass. */
export const blobChecks: readonly BlobCheck[] = [
  {
    name: "gives the turn to sweep to one of many, and to nobody else until it is over, if it gives turns",
    run: async (rig) => {
      const stores = await Promise.all([rig.open(), rig.open(), rig.open()]);
      await stores[0]?.put("s", one, bytesOf("one"));
      const turns = async (): Promise<number> =>
        (await Promise.all(stores.map((store) => store.turn?.(graceMs) ?? false))).filter(Boolean).length;
      if (stores[0]?.turn === undefined) return;
      same(await turns(), 0, "turns before the first time is over");
      rig.pass(2 * graceMs);
      same(await turns(), 1, "turns when it is over");
      same(await turns(), 0, "turns right after that");
      rig.pass(2 * graceMs);
      same(await turns(), 1, "turns when it is over again");
      same(await oldOf(stores[0]), [one], "what is old beside that");
    },
  },
  {
    name: "gives back what was put, to whoever opens it next",
    run: async (rig) => {
      await (await rig.open()).put("s", one, bytesOf("one"));
      const store = await rig.open();
      same(await textAt(store, one), "one", "a blob");
      same(await textAt(store, two), undefined, "a blob that nobody put");
    },
  },
  {
    name: "keeps bytes as they are: none, each of them, and many",
    run: async (rig) => {
      const store = await rig.open();
      const all = Uint8Array.from({ length: 256 }, (_, i) => i);
      const many = new Uint8Array(3 * 1024 * 1024).map((_, i) => i * 7);
      for (const [name, bytes] of [
        [one, new Uint8Array()],
        [two, all],
        [three, many],
      ] as const) {
        await store.put("s", name, bytes);
        const found = await store.read("s", name);
        same(found?.length, bytes.length, `the length of ${name}`);
        same(
          found?.every((byte, i) => byte === bytes[i]),
          true,
          `the bytes of ${name}`,
        );
      }
    },
  },
  {
    name: "is not changed by who goes on with the bytes that were put, or read",
    run: async (rig) => {
      const store = await rig.open();
      const bytes = bytesOf("one");
      await store.put("s", one, bytes);
      bytes.fill(0);
      (await store.read("s", one))?.fill(0);
      same(await textAt(store, one), "one", "the blob");
    },
  },
  {
    name: "takes the same blob from many at once",
    run: async (rig) => {
      const stores = await Promise.all([rig.open(), rig.open()]);
      const puts = Array.from({ length: 20 }, (_, i) => stores[i % 2]?.put("s", one, bytesOf("one")));
      await Promise.all(puts);
      for (const store of stores) same(await textAt(store, one), "one", "the blob");
      same(await oldOf(stores[0] as BlobStore), [], "what is old");
    },
  },
  {
    name: "removes what is old, and not what was put since",
    run: async (rig) => {
      const store = await rig.open();
      await store.put("s", one, bytesOf("one"));
      await store.put("s", two, bytesOf("two"));
      rig.pass(2 * graceMs);
      await store.put("s", three, bytesOf("three"));
      same(await oldOf(store), [one, two], "what is old");
      await store.put("s", two, bytesOf("two"));
      same(await oldOf(store), [one], "what is old after one was put again");
      same(await store.remove(one, graceMs), true, "whether the old one is removed");
      same(await store.remove(two, graceMs), false, "whether the one is removed that was put again");
      same(await store.remove(three, graceMs), false, "whether the young one is removed");
      same(await store.remove(one, graceMs), false, "whether one is removed that is not there");
      same([await textAt(store, one), await textAt(store, two)], [undefined, "two"], "what is left");
    },
  },
  {
    name: "has what is put again after it was removed",
    run: async (rig) => {
      const store = await rig.open();
      await store.put("s", one, bytesOf("one"));
      rig.pass(2 * graceMs);
      await store.remove(one, graceMs);
      await store.put("s", one, bytesOf("one"));
      same(await textAt(store, one), "one", "the blob");
      same(await oldOf(store), [], "what is old");
    },
  },
  {
    name: "has what is put while it is being removed",
    run: async (rig) => {
      const stores = await Promise.all([rig.open(), rig.open()]);
      const [store, other] = stores as [BlobStore, BlobStore];
      for (let i = 0; i < 20; i++) {
        await store.put("s", one, bytesOf("one"));
        rig.pass(2 * graceMs);
        await Promise.all([store.remove(one, graceMs), other.put("s", one, bytesOf("one"))]);
        same(await textAt(store, one), "one", `the blob, in round ${i}`);
      }
    },
  },
];

/** Conformance checks for stores of blobs, for any test runner. */
import type { BlobStore } from "@pawl/runtime/driver";
import { same } from "./journal/rig.ts";

/** A store that several processes can open. */
export interface BlobRig {
  /** Opens the store in one more process. */
  readonly open: () => Promise<BlobStore>;
  /** Advances the store's clock. */
  readonly pass: (ms: number) => void;
}

export interface BlobCheck {
  readonly name: string;
  /** Throws if the store fails the check. */
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
    name: "lets one of many processes sweep at a time, if it coordinates sweeps",
    run: async (rig) => {
      const stores = await Promise.all([rig.open(), rig.open(), rig.open()]);
      await stores[0]?.put("s", one, bytesOf("one"));
      const turns = async (): Promise<number> =>
        (await Promise.all(stores.map((store) => store.turn?.(graceMs) ?? false))).filter(Boolean).length;
      if (stores[0]?.turn === undefined) return;
      same(await turns(), 0, "turns before the first interval is over");
      rig.pass(2 * graceMs);
      same(await turns(), 1, "turns when it is over");
      same(await turns(), 0, "turns right after it");
      rig.pass(2 * graceMs);
      same(await turns(), 1, "turns when it is over again");
      same(await oldOf(stores[0]), [one], "the old blobs");
    },
  },
  {
    name: "returns a stored blob to the next process",
    run: async (rig) => {
      await (await rig.open()).put("s", one, bytesOf("one"));
      const store = await rig.open();
      same(await textAt(store, one), "one", "a blob");
      same(await textAt(store, two), undefined, "a blob that nobody put");
    },
  },
  {
    name: "keeps bytes unchanged: none, each value, and many",
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
    name: "is not affected by later changes to the buffers that were put or read",
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
    name: "accepts the same blob from many processes at once",
    run: async (rig) => {
      const stores = await Promise.all([rig.open(), rig.open()]);
      const puts = Array.from({ length: 20 }, (_, i) => stores[i % 2]?.put("s", one, bytesOf("one")));
      await Promise.all(puts);
      for (const store of stores) same(await textAt(store, one), "one", "the blob");
      same(await oldOf(stores[0] as BlobStore), [], "what is old");
    },
  },
  {
    name: "removes old blobs, and none that were put again",
    run: async (rig) => {
      const store = await rig.open();
      await store.put("s", one, bytesOf("one"));
      await store.put("s", two, bytesOf("two"));
      rig.pass(2 * graceMs);
      await store.put("s", three, bytesOf("three"));
      same(await oldOf(store), [one, two], "what is old");
      await store.put("s", two, bytesOf("two"));
      same(await oldOf(store), [one], "the old blobs after one was put again");
      same(await store.remove(one, graceMs), true, "whether the old one is removed");
      same(await store.remove(two, graceMs), false, "whether one that was put again is removed");
      same(await store.remove(three, graceMs), false, "whether the young one is removed");
      same(await store.remove(one, graceMs), false, "whether a missing one is removed");
      same([await textAt(store, one), await textAt(store, two)], [undefined, "two"], "what is left");
    },
  },
  {
    name: "returns a blob that was put again after its removal",
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
    name: "returns a blob that was put during its removal",
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

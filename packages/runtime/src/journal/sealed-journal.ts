/**
 * A decorator of journals: callers see open values, the journal below stores sealed ones. The chain is over the stored
 * lines, so that a log can be verified without a key.
 */
import { utf8 } from "@pawl/tool-value";
import { base64Of, bytesOf } from "../encoding.ts";
import { type BlobStore, freshEnd, isSealedBlob } from "./blob.ts";
import { textOf } from "../error.ts";
import type {
  Append,
  AppendResult,
  Holding,
  Journal,
  JournalLine,
  InboxMessage,
  OutboxMessage,
  Adoption,
  MoveStore,
} from "./journal.ts";
import { type ValueCodec, openLine, openSnapshot, sealLine, sealSnapshot } from "./seal.ts";

/** Makes a random name. */
const freshName = (): string => {
  const bytes = [...crypto.getRandomValues(new Uint8Array(24))];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("") + freshEnd;
};

const sealedBlobs = (blobs: BlobStore, codec: ValueCodec): BlobStore => ({
  ...blobs,
  fresh: freshName,
  put: async (scope, name, bytes) =>
    blobs.put(scope, name, isSealedBlob(bytes) ? bytes : await codec.seal({ scope, at: name }, bytes)),
  read: async (scope, name) => {
    const bytes = await blobs.read(scope, name);
    return bytes === undefined || !isSealedBlob(bytes) ? bytes : codec.open({ scope, at: name }, bytes);
  },
});

const sealedMark = "sealed:";
type Place = Pick<InboxMessage, "kind" | "link" | "number">;
const letterAt = (from: string, { kind, link, number }: Place): string => `letter/${from}/${kind}/${link}/${number}`;

/** Seals a message for its receiver. */
const sealText = async (codec: ValueCodec, scope: string, at: string, text: string): Promise<string> =>
  sealedMark + base64Of(await codec.seal({ scope, at }, utf8(text)));

const openText = async (codec: ValueCodec, scope: string, at: string, text: string): Promise<string> =>
  text.startsWith(sealedMark)
    ? new TextDecoder().decode(await codec.open({ scope, at }, bytesOf(text.slice(sealedMark.length))))
    : text;

class Sealing {
  readonly #codec: ValueCodec;

  constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  lines(scope: string, lines: readonly JournalLine[]): Promise<readonly JournalLine[]> {
    return Promise.all(lines.map(async ({ seq, line }) => ({ seq, line: await sealLine(this.#codec, scope, line) })));
  }

  async opened(scope: string, lines: readonly JournalLine[]): Promise<readonly JournalLine[]> {
    return Promise.all(lines.map(async ({ seq, line }) => ({ seq, line: await openLine(this.#codec, scope, line) })));
  }

  async append(append: Append): Promise<Append> {
    const { scope } = append;
    const letter = async (sent: OutboxMessage): Promise<OutboxMessage> => {
      const text = await sealText(this.#codec, sent.to, letterAt(scope, sent), sent.text);
      return { ...sent, text };
    };
    const messages = await Promise.all(append.messages.map(letter));
    return { ...append, messages, lines: await this.lines(scope, append.lines) };
  }

  async letter(scope: string, letter: InboxMessage): Promise<InboxMessage> {
    return { ...letter, text: await openText(this.#codec, scope, letterAt(letter.from, letter), letter.text) };
  }

  async adoption(adoption: Adoption): Promise<Adoption> {
    const { scope, segment } = adoption;
    const sealed = async (letter: InboxMessage): Promise<InboxMessage> => {
      const text = await sealText(this.#codec, scope, letterAt(letter.from, letter), letter.text);
      return { ...letter, text };
    };
    return {
      ...adoption,
      lines: await this.lines(scope, adoption.lines),
      kept: await this.lines(scope, adoption.kept),
      letters: await Promise.all(adoption.letters.map(sealed)),
      ...(segment && { segment: { ...segment, snapshot: await sealSnapshot(this.#codec, scope, segment.snapshot) } }),
    };
  }

  async holding<H extends Holding>(scope: string, held: H): Promise<H> {
    const { snapshot } = held;
    if (snapshot === undefined) return held;
    return { ...held, snapshot: { ...snapshot, text: await openSnapshot(this.#codec, scope, snapshot.text) } };
  }
}

/** Appends a group. An append that cannot be sealed fails alone. */
const appendSealed = async (
  journal: Journal,
  sealing: Sealing,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> => {
  const sealed = await Promise.allSettled(appends.map((append) => sealing.append(append)));
  const good = sealed.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const results = [...(good.length === 0 ? [] : await journal.appendAll(good))];
  return sealed.map((one): AppendResult =>
    one.status === "fulfilled"
      ? (results.shift() ?? { type: "failed", message: "no result" })
      : { type: "failed", message: textOf(one.reason) },
  );
};

const sealedMoves = (moves: MoveStore, sealing: Sealing): MoveStore => ({
  ...moves,
  adopt: async (adoption) => moves.adopt(await sealing.adoption(adoption)),
});

/** Seals the values of a journal with a codec as they are stored, and opens them as they are read. */
export const sealedJournal = (journal: Journal, codec: ValueCodec): Journal => {
  const sealing = new Sealing(codec);
  const { open: _, claimDue: __, ...parts } = journal; // What they bring along is not unsealed here; reads are.
  return {
    ...parts,
    stored: journal,
    ...(journal.blobs && { blobs: sealedBlobs(journal.blobs, codec) }),
    ...(journal.moves && { moves: sealedMoves(journal.moves, sealing) }),
    claim: async (scope, ...of) => {
      const claim = await journal.claim(scope, ...of);
      return claim.type === "claimed" ? sealing.holding(scope, claim) : claim;
    },
    load: async (scope, instance) => {
      const held = await journal.load(scope, instance);
      return held && sealing.holding(scope, held);
    },
    appendAll: (appends) => appendSealed(journal, sealing, appends),
    read: async (scope, ...of) => sealing.opened(scope, await journal.read(scope, ...of)),
    inbox: async (scope) => {
      const letters = await journal.inbox(scope);
      return Promise.all(letters.map((letter) => sealing.letter(scope, letter)));
    },
    snapshot: async (scope, epoch, seq, text) =>
      journal.snapshot(scope, epoch, seq, await sealSnapshot(codec, scope, text)),
    segment: async (scope) => {
      const segment = await journal.segment(scope);
      return segment && { ...segment, snapshot: await openSnapshot(codec, scope, segment.snapshot) };
    },
  };
};

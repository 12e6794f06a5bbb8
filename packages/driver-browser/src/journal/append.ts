/** What is written by one append: lines, what has finished, letters, and where the scope stands afterwards. */
import type { Append, AppendResult, NotWritten, OutboxMessage } from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import { scopeAt } from "./owner.ts";
import type { ScopeRow } from "./schema.ts";
import type { Writing } from "./transaction.ts";

/** Why a writer of this epoch is refused. */
export const fenced = (row: ScopeRow | undefined, epoch: number): NotWritten | undefined =>
  row !== undefined && epoch === row.epoch && epoch > 0 ? undefined : { type: "fenced", epoch: row?.epoch ?? 0 };

const judge = async (at: Writing, row: ScopeRow, append: Append): Promise<AppendResult | undefined> => {
  const refused = fenced(row, append.epoch);
  if (refused !== undefined) return refused;
  const same = await at.objectStore("append").index("id").getKey([append.scope, append.appendId]);
  if (same !== undefined) return { type: "ok" };
  return append.expectedSeq === row.seq + 1 ? undefined : { type: "conflict", seq: row.seq };
};

export const send = async (at: Writing, from: string, { to, ...letter }: OutboxMessage): Promise<void> => {
  const letters = at.objectStore("letter");
  const before = await letters.get([to, from, letter.kind, letter.link, letter.number]);
  const order = before?.order ?? (await at.objectStore("count").get("letters")) ?? 0;
  if (before === undefined) await at.objectStore("count").put(order + 1, "letters");
  await letters.put({ to, from, ...letter, order });
};

type Lines = Pick<Append, "lines">;
const sizeOf = ({ lines }: Lines): number => lines.reduce((sum, { line }) => sum + line.length, 0);

/** Takes room for lines; false where there is none. */
export const hasRoom = async (at: Writing, append: Lines, most: number): Promise<boolean> => {
  const size = ((await at.objectStore("count").get("size")) ?? 0) + sizeOf(append);
  if (size > most) return false;
  await at.objectStore("count").put(size, "size");
  return true;
};

export const write = async (at: Writing, row: ScopeRow, append: Append): Promise<void> => {
  const { scope, appendId, lines, finished, wakeAt, approvals = row.approvals ?? 0, protocol } = append;
  const { messages, received } = append;
  for (const { from, kind, link, number } of received)
    await at.objectStore("letter").delete([scope, from, kind, link, number]);
  for (const letter of messages) await send(at, scope, letter);
  if (lines.length === 0) return;
  const hash = chain(
    row.hash,
    lines.map(({ line }) => line),
  );
  const seq = row.seq + lines.length;
  const { wakeAt: _before, ...rest } = row;
  await at.objectStore("append").put({ scope, last: seq, appendId, lines, hash });
  await at
    .objectStore("scope")
    .put({ ...rest, seq, hash, protocol, approvals, ...(wakeAt !== undefined && { wakeAt }) });
  for (const one of finished) await at.objectStore("finished").put({ seq: one.seq }, [scope, one.kind, one.id]);
};

/** Takes an append, or says why not. `most` is the room for lines, in characters. */
export const take = async (at: Writing, append: Append, most: number): Promise<AppendResult> => {
  const row = await scopeAt(at, append.scope);
  if (row === undefined) return { type: "fenced", epoch: 0 };
  const judged = await judge(at, row, append);
  if (judged !== undefined) return judged;
  if (!(await hasRoom(at, append, most))) return { type: "full" };
  await write(at, row, append);
  return { type: "ok" };
};

/** Many clients that read a log to its end, in a process of their own: what they decode makes nobody else wait. */
import { Client } from "@pawl/driver-node/client";

export interface Reading {
  readonly url: string;
  readonly token: string;
  readonly readers: number;
  /** The session, and the event that its log ends with. */
  readonly session: string;
  readonly end: number;
}

const read = async ({ url, token, session, end }: Reading): Promise<void> => {
  const client = new Client({ url, token });
  for await (const { cursor } of client.session(session).observe({ after: 0 })) if (cursor >= end) break;
  client.close();
};

process.on("disconnect", () => process.exit(1)); // Nobody is left to read for.
process.once("message", async (reading: Reading) => {
  let done = 0;
  const one = async (): Promise<void> => {
    await read(reading);
    done += 1;
  };
  await Promise.allSettled(Array.from({ length: reading.readers }, one));
  process.send?.(done, () => process.disconnect());
});

/** The two walks: a call of one step, and a call over WebSocket that a person has to approve. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SqliteJournal, diskAttachments, nodePlatform, openHost, sqliteJournal } from "@pawl/driver-node";
import { Client } from "@pawl/driver-node/client";
import { type Journal, Runtime, type ToolDefinition, defineTool } from "@pawl/runtime";
import { type Entered, atRest, begin, traced } from "./entry.ts";

export interface Stage {
  readonly title: string;
  readonly entered: readonly Entered[];
  /** The events that were handed to the journal. */
  readonly written: readonly string[];
}

export interface Walk {
  readonly title: string;
  readonly about: string;
  /** The most files that it may touch. */
  readonly bound: number;
  readonly stages: readonly Stage[];
}

type Next = (stage: number) => void;

/** How many calls come before the one that is traced. */
const warmUps = 5;
/** Longer than a walk lasts: no timer ends in one, so that all that runs is the call's. */
const long = 3_600_000;
const secret = new Uint8Array(32).fill(1);

const ids = { given: 0 };
/** Names decisions in turn: the digits of a random id can look like a number that has to be parsed with care. */
crypto.randomUUID = () => `00000000-0000-4000-8000-${`${(ids.given += 1)}`.padStart(12, "0")}`;

const typeIn = (line: string): string => (JSON.parse(line) as { readonly event: { readonly type: string } }).event.type;

/** Notes the types of the events that a journal is given. */
const listening = (journal: SqliteJournal, written: string[]): Journal => ({
  ...journal,
  appendAll: (appends) => {
    written.push(...appends.flatMap(({ lines }) => lines.map(({ line }) => typeIn(line))));
    return journal.appendAll(appends);
  },
});

/** Sets up a runtime over a journal file as `openRuntime` does, but that commits stay in this thread on any disk. */
const withRuntime = async <A>(
  tool: ToolDefinition,
  run: (runtime: Runtime, written: readonly string[]) => Promise<A>,
): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-walk-"));
  const written: string[] = [];
  const journal = sqliteJournal(join(folder, "journal.db"), { writer: true, commits: "inline" });
  const runtime = new Runtime({
    journal: listening(journal, written),
    platform: nodePlatform,
    tools: [tool],
    instance: "walk",
    host: { attachments: diskAttachments(join(folder, "attachments")) },
    roots: { newest: { kid: "walk", secret } },
    lease: { ttlMs: long },
    linger: { ms: long },
    patience: { suspendMs: long },
    pollMs: long,
  });
  try {
    return await run(runtime, written);
  } finally {
    await runtime.close();
    await journal.close();
    rmSync(folder, { recursive: true });
  }
};

/** Traces the last of a few calls until all is at rest again, and parts what it entered by stages. */
const staged = async (
  titles: readonly string[],
  written: readonly string[],
  call: (n: number, next: Next) => Promise<void>,
): Promise<readonly Stage[]> => {
  for (let n = 0; n < warmUps; n++) await call(n, () => undefined);
  const from: number[] = [];
  const next = (stage: number): void => {
    from[stage] = written.length;
    begin(stage);
  };
  const entered = await traced(async () => {
    next(0);
    await call(warmUps, next);
    await atRest();
  });
  return titles.map((title, stage) => ({
    title,
    entered: entered.filter((one) => one.stage === stage),
    written: written.slice(from[stage], from[stage + 1]),
  }));
};

const checkSuccess = (reply: { readonly output: { readonly outcome: { readonly status: string } } } | undefined) => {
  if (reply?.output.outcome.status !== "success") throw new Error(`the call failed: ${JSON.stringify(reply)}`);
};

const walkOfCall = async (): Promise<Walk> => {
  const now: { next: Next } = { next: () => undefined };
  const tool = defineTool<{ readonly order: string }>({
    name: "ship",
    durable: true,
    execute: async ({ order }, ctx) => {
      now.next(1);
      const parcel = await ctx.run(
        "pack",
        () => {
          now.next(2);
          return `parcel of ${order}`;
        },
        { input: { order } },
      );
      now.next(3);
      return { parcel };
    },
  });
  const titles = [
    "From `session.call` to the tool's body",
    "From `ctx.run` to the step's function",
    "From the function's result to the body's next line",
    "From the body's result to the reply, until all is at rest",
  ];
  const stages = await withRuntime(tool, async (runtime, written) => {
    const session = await runtime.session("alice");
    return staged(titles, written, async (n, next) => {
      now.next = next;
      const [reply] = await session.request(`turn-${n}`, [{ label: "call", tool: "ship", args: { order: "o-1" } }]);
      checkSuccess(reply);
    });
  });
  return {
    title: "A call of one step",
    about: "A durable tool packs a parcel in one step. The program calls it in a session that it has called before.",
    bound: 80,
    stages,
  };
};

const walkOfApproval = async (): Promise<Walk> => {
  const now: { next: Next } = { next: () => undefined };
  const tool = defineTool<{ readonly amount: number }>({
    name: "refund",
    needsApproval: true,
    execute: ({ amount }) => {
      now.next(2);
      return amount;
    },
  });
  const titles = [
    "A client calls the tool, until the call waits for approval",
    "Another client approves it, until the tool's body runs",
    "From the body's result to the reply, until all is at rest",
  ];
  const stages = await withRuntime(tool, async (runtime, written) => {
    const host = await openHost({ runtime, secrets: [secret] });
    const clientOf = (by: string, ...rights: readonly ("call" | "observe" | "approve")[]): Client => {
      const token = host.sign({ by, scopes: ["session:"], rights, expires_at: Date.now() + long });
      return new Client({ url: host.url, token });
    };
    const [caller, approver] = [clientOf("carl", "call"), clientOf("ann", "observe", "approve")];
    let hash: string | undefined;
    try {
      return await staged(titles, written, async (n, next) => {
        now.next = next;
        const calls = [{ label: "call", tool: "refund", args: { amount: 12 } }];
        const replied = caller.session("alice").request(`turn-${n}`, calls);
        await atRest();
        const session = approver.session("alice");
        hash ??= (await session.approvals())[0]?.hash; // The same each time, for the arguments are.
        if (hash === undefined) throw new Error("no call waits for approval");
        next(1);
        const [[reply]] = await Promise.all([replied, session.approve(`turn-${n}:call`, { hash })]);
        checkSuccess(reply);
      });
    } finally {
      caller.close();
      approver.close();
      await host.close();
    }
  });
  return {
    title: "An approval over WebSocket",
    about: "A client calls a tool that requires approval; another client has seen what waits, and approves it.",
    bound: 90,
    stages,
  };
};

export const walks = async (): Promise<readonly Walk[]> => [await walkOfCall(), await walkOfApproval()];

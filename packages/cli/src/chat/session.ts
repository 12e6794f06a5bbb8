/** The session that a chat is with: of a journal that this process opens, or of a host. */
import { openRuntime } from "@pawl/driver-node";
import type { ApprovalWanted, Session } from "@pawl/runtime";
import {
  type BudgetStatus,
  type ReadTurnOptions,
  type TurnFrame,
  type TurnOptions,
  budgetOf,
} from "@pawl/runtime/driver";
import type { TurnEnd } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { SessionClient } from "@pawl/wire";
import { byOf } from "../act/act.ts";
import { askHost } from "../act/remote.ts";
import type { Input } from "../command.ts";
import { usageError } from "../exit.ts";
import { hostIn } from "../host/module.ts";
import { loadModule } from "../module.ts";
import { placeOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";

/** A call that waits for a person. */
export interface ChatApproval extends Pick<ApprovalWanted, "call" | "tool" | "args"> {
  readonly approve: (args?: Json) => Promise<void>;
  readonly reject: (reason: string) => Promise<void>;
}

type BudgetMore = NonNullable<Parameters<SessionClient["decideBudget"]>[0]["add"]>;

/** All that a chat asks of a session. */
export interface ChatSession {
  readonly name: string;
  readonly turn: (request: string, said: string, options: Pick<TurnOptions, "whenBusy" | "agent">) => Promise<TurnEnd>;
  readonly readTurn: (request: string, options: ReadTurnOptions) => AsyncIterable<TurnFrame>;
  readonly stop: (request: string) => Promise<void>;
  readonly approvals: () => Promise<readonly ChatApproval[]>;
  readonly budget: () => Promise<BudgetStatus>;
  readonly decideBudget: (ask: number, decision: "extend" | "stop", add?: BudgetMore) => Promise<void>;
}

const more = (add: BudgetMore | undefined): { readonly add?: BudgetMore } => (add === undefined ? {} : { add });
const edited = (args: Json | undefined): { readonly args?: Json } => (args === undefined ? {} : { args });

const ofRuntime = (name: string, session: Session, by: string): ChatSession => ({
  name,
  turn: (request, said, options) => session.turn(request, said, { ...options, by }),
  readTurn: (request, options) => session.readTurn(request, options),
  stop: (request) => session.cancel({ request }, by),
  approvals: async () =>
    (await session.approvals()).map((one) => ({
      call: one.call,
      tool: one.tool,
      args: one.args,
      approve: (args) => one.approve({ by, ...edited(args) }),
      reject: (reason) => one.reject({ by, reason }),
    })),
  budget: async () => budgetOf(session.state),
  decideBudget: (ask, decision, add) => session.decideBudget({ ask, decision, by, ...more(add) }),
});

const ofHost = (session: SessionClient): ChatSession => ({
  name: session.scope,
  turn: (request, said, options) => session.turn(request, said, options),
  readTurn: (request, options) => session.readTurn(request, options),
  stop: (request) => session.cancel({ request }),
  approvals: async () =>
    (await session.approvals()).map((one) => ({
      call: one.call,
      tool: one.tool,
      args: one.args,
      approve: (args) => one.approve(edited(args)),
      reject: (reason) => one.reject({ reason }),
    })),
  budget: () => session.budget(),
  decideBudget: (ask, decision, add) => session.decideBudget({ ask, decision, ...more(add) }),
});

/** Opens the journal with the agents and tools of a module, and works with the session. */
const withJournal = async <A>(
  input: Input,
  terminal: Terminal,
  work: (session: ChatSession) => Promise<A>,
): Promise<A> => {
  const module = input.text("agents");
  if (module === undefined)
    throw usageError("who is to answer?", "add --agents <module>, or --host <url> for a host that runs agents");
  const { file, scope, blobs, keys } = placeOf(input.positionals[0] ?? "", input, terminal);
  if (keys !== undefined)
    throw usageError("a chat does not open sealed journals", "chat over the host that has the keys");
  if (scope === undefined || !scope.startsWith("session:"))
    throw usageError(
      `a chat is with a session, found ${scope ?? file}`,
      "write journal.db#session:alice, or add --journal",
    );
  const definition = hostIn(module, await loadModule(module));
  const place = { file, ...(blobs === undefined ? {} : { blobs }) };
  const { runtime, close } = openRuntime({ ...definition, ...place });
  try {
    return await work(ofRuntime(scope, await runtime.session(scope.slice("session:".length)), byOf(input, terminal)));
  } finally {
    await close();
  }
};

/** A chat lasts as long as its person wants; the host need only answer at the beginning. */
const noEnd = 2 ** 31 - 1;

/** Works with the session that the command line names. */
export const withChatSession = async <A>(
  input: Input,
  terminal: Terminal,
  work: (session: ChatSession) => Promise<A>,
): Promise<A> => {
  const asked = await askHost(input, terminal, (session) => work(ofHost(session)), noEnd);
  return asked === undefined ? withJournal(input, terminal, work) : asked.answer;
};

/** `pawl approve` and `pawl reject`: decide a call that waits for approval. */
import type { Event } from "@pawl/sansio-core";
import { type Decision, pendingApprovals } from "@pawl/sansio-core/driver";
import { stableHash, stringify } from "@pawl/tool-value";
import type { SessionClient } from "@pawl/wire";
import type { Command, Input, Options } from "../command.ts";
import { CliError, exit, usageError } from "../exit.ts";
import type { Terminal } from "../terminal.ts";
import { type Target, act, actJson, actOptions, byOf, jsonArgument, noSuchCall, withTarget } from "./act.ts";
import { type Chosen, listPending, numbered, pendingJson } from "./pending.ts";
import { askHost, printDone } from "./remote.ts";

type Sticky = "later" | "parked_too";

const decideOptions: Options = {
  ...actOptions,
  hash: { type: "string", value: "<hash>", what: "The hash of the arguments that you saw; `pawl why` prints it" },
  sticky: {
    type: "string",
    value: "<how>",
    what: "Apply to later calls of the tool: later, or parked-too (waiting calls, too)",
  },
};

const stickyOf = (input: Input): Sticky | undefined => {
  const text = input.text("sticky");
  if (text === undefined) return undefined;
  if (text === "later") return "later";
  if (text === "parked-too") return "parked_too";
  throw usageError(`--sticky expects later or parked-too, found \`${text}\``);
};

const decide = (
  target: Target,
  { call, hash: args_hash }: Wanted,
  input: Input,
  terminal: Terminal,
  decision: Decision,
): Event => {
  const row = target.state.calls.at(call);
  if (row === undefined) throw noSuchCall(target, call);
  if (row.phase !== "awaiting_approval") {
    throw new CliError("wrong_phase", `${call} is ${row.phase}, and does not wait for approval`, {
      exit: exit.refused,
    });
  }
  if (args_hash === undefined) {
    const found = `${row.tool} ${stringify(row.args)}`;
    throw usageError(
      `which arguments did you see? ${call} wants to call ${found}`,
      `add --hash ${row.approval.argsHash}`,
    );
  }
  const sticky = stickyOf(input);
  const event = { type: "approval.decided", call, decision, args_hash, by: byOf(input, terminal) } as const;
  return sticky === undefined ? event : { ...event, sticky };
};

/** Sends the decision to a host, and returns the call that it is on. */
const decideAtHost = async (session: SessionClient, input: Input, decision: Decision): Promise<string> => {
  const wanted = wantedIn(input, /^\d+$/.test(wordOf(input)) ? await session.approvals() : [], session.scope);
  await sendDecision(session, wanted, input, decision);
  return wanted.call;
};

const sendDecision = (
  session: SessionClient,
  { call, hash }: Wanted,
  input: Input,
  decision: Decision,
): Promise<void> => {
  if (hash === undefined) throw usageError("which arguments did you see?", "add --hash <hash>; `pawl why` prints it");
  const sticky = stickyOf(input);
  const deciding = sticky === undefined ? { hash } : { hash, sticky };
  switch (decision.type) {
    case "approve":
      return session.approve(call, deciding);
    case "approve_edited":
      return session.approve(call, { ...deciding, args: decision.args });
    case "reject":
      return session.reject(call, { ...deciding, reason: decision.reason });
  }
};

/** The call that is decided on, and the hash of the arguments that were seen. */
interface Wanted {
  readonly call: string;
  readonly hash: string | undefined;
}

const wordOf = (input: Input): string => input.positionals[1] ?? "";

/** Returns the call that the command line names, by its name or by its number in the list. */
const wantedIn = (input: Input, pending: readonly Chosen[], scope: string): Wanted =>
  numbered(wordOf(input), pending, scope) ?? { call: wordOf(input), hash: input.text("hash") };

/** Returns a warning if edited arguments still have to be checked: only a host can check them. */
const notChecked = ({ state }: Target, call: string, { type }: Decision): string => {
  const row = state.calls.at(call);
  const isChecked = type === "approve_edited" && row?.phase === "awaiting_approval" && row.manifest.checks;
  return isChecked ? "; a host still checks the arguments, and asks again if they do not fit" : "";
};

const run = async (input: Input, terminal: Terminal, decision: Decision, done: string): ReturnType<Command["run"]> => {
  if (input.positionals.length < 2 && input.text("host") === undefined)
    return listPending(input, terminal, decision.type === "reject" ? "reject" : "approve");
  const asked = await askHost(input, terminal, (session) => decideAtHost(session, input, decision));
  if (asked !== undefined) return printDone(terminal, asked.scope, `${asked.answer} is ${done}`);
  return withTarget(input, terminal, (target) => {
    const wanted = wantedIn(input, pendingApprovals(target.state), target.scope);
    const { call } = wanted;
    const event = decide(target, wanted, input, terminal, decision);
    return act(target, terminal, event, { call, done: `${call} is ${done}${notChecked(target, call, decision)}` });
  });
};

export const approveCommand: Command = {
  name: "approve",
  summary: "Approve a call, unchanged or with other arguments",
  usage: "[<scope> [<call or number>]]",
  minArgs: 0,
  maxArgs: 2,
  options: {
    ...decideOptions,
    args: { type: "string", value: "<json>", what: "Approve with these arguments instead" },
  },
  detail:
    "Without a call it lists what waits for approval: `pawl approve alice 2` approves the second.\nThe hash names the arguments that you saw. A decision is refused if the arguments have changed since.",
  json: [...actJson, pendingJson],
  examples: [
    ["pawl approve --journal journal.db", "lists all that waits, with a number each"],
    ["pawl approve alice 2", "the second of session alice"],
    ["pawl approve alice turn-1:call-1 --hash 5f2c…", "as it is"],
    [`pawl approve alice turn-1:call-1 --hash 5f2c… --args '{"to":"Lviv"}'`, "with other arguments"],
  ],
  run: (input, terminal) => {
    const text = input.text("args");
    if (text === undefined) return run(input, terminal, { type: "approve" }, "approved");
    const args = jsonArgument("args", text);
    return run(input, terminal, { type: "approve_edited", args, args_hash: stableHash(args) }, "approved with edits");
  },
};

export const rejectCommand: Command = {
  name: "reject",
  summary: "Reject a call that needs approval",
  usage: "[<scope> [<call or number>]]",
  minArgs: 0,
  maxArgs: 2,
  options: { ...decideOptions, reason: { type: "string", value: "<text>", what: "The reason that the model is told" } },
  json: [...actJson, pendingJson],
  examples: [["pawl reject alice turn-1:call-1 --hash 5f2c… --reason 'not today'", "with a reason"]],
  run: (input, terminal) =>
    run(input, terminal, { type: "reject", reason: input.text("reason") ?? "rejected by an operator" }, "rejected"),
};

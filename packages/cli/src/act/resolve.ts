/** `pawl resolve`: resolves a wait, or an outcome that is unknown. */
import type { EventOf } from "@pawl/sansio-core";
import { type Resolution, lift, successOutput } from "@pawl/tool-value";
import type { SessionClient } from "@pawl/wire";
import { type SignedKey, readToken } from "@pawl/runtime/driver";
import type { Command, Input } from "../command.ts";
import { CliError, type Exit, exit, usageError } from "../exit.ts";
import type { Terminal } from "../terminal.ts";
import { type Target, act, actJson, actOptions, byOf, jsonArgument, noSuchCall, withTarget } from "./act.ts";
import { askHost, printDone } from "./remote.ts";

const resolutionOf = (input: Input): Resolution => {
  const [ok, code] = [input.text("ok"), input.text("err")];
  const isCancelled = input.isSet("cancelled");
  if ([ok !== undefined, code !== undefined, isCancelled].filter(Boolean).length !== 1)
    throw usageError("the resolution is missing", "add one of --ok <json>, --err <code>, --cancelled");
  if (ok !== undefined) return { status: "ok", payload: jsonArgument("ok", ok) };
  if (code === undefined) return { status: "cancelled" };
  return { status: "err", payload: { code, message: input.text("message") ?? code } };
};

const isToken = (text: string): boolean => /^v[123]\./.test(text);

/** Returns the wait's key, which is given as such or inside a token, with whose own it is. */
const keyOf = ({ file, scope, state, journal }: Target, text: string): SignedKey => {
  const roots = isToken(text) ? journal.roots() : undefined;
  const signed = isToken(text) ? roots && readToken(roots, scope, text) : { key: text };
  if (signed === undefined) {
    throw new CliError("unknown_or_revoked", `the token was not made for ${scope}`, { exit: exit.refused });
  }
  if (isToken(text) || state.waits.at(text) !== undefined) return signed;
  const hint = `pawl why ${file}#${scope}`;
  throw new CliError("unknown_or_revoked", `nothing in ${scope} waits for ${text}`, { exit: exit.refused, hint });
};

const resolveKey = async (target: Target, input: Input, terminal: Terminal): Promise<Exit> => {
  const { key, ...own } = keyOf(target, input.positionals[1] ?? "");
  const resolution = resolutionOf(input);
  const finished = await target.journal.journal.find(target.scope, "wait", key);
  if (finished !== undefined) {
    const message = `${key} was resolved at event ${finished} already`;
    throw new CliError("already_resolved", message, { exit: exit.refused });
  }
  const event = { type: "wait.resolved", key, resolution, by: byOf(input, terminal), ...own } as const;
  return act(target, terminal, event, { done: `${key} is resolved` });
};

const outcomeOf = (input: Input, outcome: string): EventOf<"outcome.resolved">["resolved"] => {
  switch (outcome) {
    case "run-again":
      return { type: "run_again" };
    case "release":
      return { type: "release" };
    case "give-up":
      return { type: "give_up" };
    case "verified": {
      const ok = input.text("ok");
      if (ok === undefined) throw usageError("--ok is missing", "add --ok <json>");
      return { type: "verified", output: successOutput(lift(jsonArgument("ok", ok))) };
    }
    default:
      throw usageError(`--outcome expects run-again, release, give-up or verified, found \`${outcome}\``);
  }
};

const resolveOutcome = (target: Target, input: Input, terminal: Terminal, outcome: string): Promise<Exit> => {
  const [, call = ""] = input.positionals;
  const row = target.state.calls.at(call);
  if (row === undefined) throw noSuchCall(target, call);
  const resolved = outcomeOf(input, outcome);
  const event = { type: "outcome.resolved", call, resolved, by: byOf(input, terminal) } as const;
  return act(target, terminal, event, { call, done: `the outcome of ${call} is resolved` });
};

type Answer = Awaited<ReturnType<SessionClient["resolve"]>>;

const resolveAtHost = (session: SessionClient, input: Input): Promise<Answer> => {
  if (input.isSet("outcome") || input.text("outcome") !== undefined)
    throw usageError("--outcome cannot be used with --host", "run it without --host, on the journal");
  const [, key = ""] = input.positionals;
  const resolution = resolutionOf(input);
  return isToken(key) ? session.resolve(key, resolution) : session.resolveById(key, resolution);
};

const printResolved = (terminal: Terminal, scope: string, { status }: Answer): Exit => {
  if (status === "accepted") return printDone(terminal, scope, "resolved");
  throw new CliError(status, `${scope} refused it: ${status}`, { exit: exit.refused });
};

export const resolveCommand: Command = {
  name: "resolve",
  summary: "Resolve a wait key, or the unknown outcome of a call",
  usage: "<scope> <key, token or call>",
  minArgs: 2,
  maxArgs: 2,
  options: {
    ...actOptions,
    ok: { type: "string", value: "<json>", what: "Resolve with this value" },
    err: { type: "string", value: "<code>", what: "Resolve with an error" },
    message: { type: "string", value: "<text>", what: "The error's message" },
    cancelled: { type: "boolean", what: "Resolve as cancelled" },
    outcome: { type: "string", value: "<how>", what: "For a call: run-again, release, give-up, or verified with --ok" },
  },
  json: actJson,
  examples: [
    [`pawl resolve alice 3f9a… --ok '{"approved":true}'`, "a key, as `pawl why` prints it"],
    ["pawl resolve alice turn-1:call-1 --outcome run-again", "a call whose outcome is unknown"],
    ["pawl resolve alice turn-1:call-1 --outcome release", "from the top; steps that may run only once are kept"],
  ],
  run: async (input, terminal) => {
    const asked = await askHost(input, terminal, (session) => resolveAtHost(session, input));
    if (asked !== undefined) return printResolved(terminal, asked.scope, asked.answer);
    return withTarget(input, terminal, (target) => {
      const outcome = input.text("outcome");
      return outcome === undefined
        ? resolveKey(target, input, terminal)
        : resolveOutcome(target, input, terminal, outcome);
    });
  },
};

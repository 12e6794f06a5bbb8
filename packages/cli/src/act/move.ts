/** `pawl move`: asks the host that owns a session to move it to another host. Both hosts must be up. */
import type { BodiesAtMove } from "@pawl/runtime/driver";
import type { Moving } from "@pawl/wire";
import { type Command, type Input, countOf } from "../command.ts";
import { exit, usageError } from "../exit.ts";
import { askHost, hostOptions } from "./remote.ts";

const ways: readonly string[] = ["finish", "record", "lost"] satisfies readonly BodiesAtMove[];
const isWay = (text: string): text is BodiesAtMove => ways.includes(text);

const defaultWithinMs = 30_000;
/** Time for the transfer, on top of the time that bodies may take. */
const travelMs = 120_000;

const movingIn = (input: Input): Moving & { readonly withinMs: number } => {
  const [bodies, within] = [input.text("bodies"), countOf(input, "within")];
  if (bodies !== undefined && !isWay(bodies))
    throw usageError(`--bodies expects ${ways.join(", ")}, found \`${bodies}\``);
  const withinMs = within === undefined ? defaultWithinMs : within * 1000;
  return bodies === undefined ? { withinMs } : { bodies, withinMs };
};

export const moveCommand: Command = {
  name: "move",
  summary: "Move a session to another host",
  usage: "<scope>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...hostOptions,
    to: {
      type: "string",
      value: "<url>",
      what: "The host to move to, as listed in the first one's `peers`",
    },
    bodies: {
      type: "string",
      value: "<how>",
      what: "Running bodies: finish, record (default: stop at the next recorded event), or lost",
    },
    within: { type: "string", value: "<s>", what: "Time that bodies have before the move is given up (30)" },
  },
  detail:
    "Name the host that owns the session with --host, and use a token with the right `move`. Its configuration must list\nthe other host (`peers`). Repeat the command to find out how the move ended.",
  json: [{ what: "When it has moved", fields: "scope, to, done" }],
  examples: [["pawl move alice --host ws://127.0.0.1:7777 --to ws://127.0.0.1:7778", "move the session alice"]],
  run: async (input, terminal) => {
    const to = input.text("to");
    if (to === undefined) throw usageError("--to is missing", "add --to ws://…");
    const moving = movingIn(input);
    const patienceMs = moving.withinMs + travelMs;
    const asked = await askHost(input, terminal, (session) => session.move(to, moving), patienceMs);
    if (asked === undefined) throw usageError("--host is missing", "add --host ws://…, or start one: pawl help host");
    terminal.print({ scope: asked.scope, to, done: true }, () => [
      terminal.paint("green", `${asked.scope} has moved to ${to}`),
    ]);
    return exit.fine;
  },
};

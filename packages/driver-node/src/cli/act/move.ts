/** `pawl move`: has a session live with another host. Both hosts are alive, and the one that has it does the work. */
import type { BodiesAtMove } from "@pawl/runtime";
import type { Moving } from "@pawl/wire";
import { type Command, type Input, countOf } from "../command.ts";
import { exit, usageError } from "../exit.ts";
import { askHost, hostOptions } from "./remote.ts";

const ways: readonly string[] = ["finish", "record", "lost"] satisfies readonly BodiesAtMove[];
const isWay = (text: string): text is BodiesAtMove => ways.includes(text);

const defaultWithinMs = 30_000;
/** JournalFolders the time that bodies have: for what travels. */
const travelMs = 120_000;

const movingIn = (input: Input): Moving & { readonly withinMs: number } => {
  const [bodies, within] = [input.text("bodies"), countOf(input, "within")];
  if (bodies !== undefined && !isWay(bodies))
    throw usageError(`--bodies takes ${ways.join(", ")}, found \`${bodies}\``);
  const withinMs = within === undefined ? defaultWithinMs : within * 1000;
  return bodies === undefined ? { withinMs } : { bodies, withinMs };
};

export const moveCommand: Command = {
  name: "move",
  summary: "Have a session live with another host",
  usage: "<scope>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...hostOptions,
    to: {
      type: "string",
      value: "<url>",
      what: "The host that it moves to, as the first one knows it among its peers",
    },
    bodies: {
      type: "string",
      value: "<how>",
      what: "finish, record (default: leave them at their next record), or lost",
    },
    within: { type: "string", value: "<s>", what: "How long bodies may take until the session stays (30)" },
  },
  detail:
    "The host that has the session is asked for it, with --host and a token that has the right `move`. It knows the other\nhost by its configuration (`peers`). Said again, it finds out how the move ended.",
  json: [{ what: "When it lives there", fields: "scope, to, done" }],
  examples: [["pawl move alice --host ws://127.0.0.1:7777 --to ws://127.0.0.1:7778", "and then it lives there"]],
  run: async (input, terminal) => {
    const to = input.text("to");
    if (to === undefined) throw usageError("where to?", "add --to ws://…");
    const moving = movingIn(input);
    const patienceMs = moving.withinMs + travelMs;
    const asked = await askHost(input, terminal, (session) => session.move(to, moving), patienceMs);
    if (asked === undefined) throw usageError("which host has it?", "add --host ws://…, or start one: pawl help host");
    terminal.print({ scope: asked.scope, to, done: true }, () => [
      terminal.paint("green", `${asked.scope} lives at ${to} now`),
    ]);
    return exit.fine;
  },
};

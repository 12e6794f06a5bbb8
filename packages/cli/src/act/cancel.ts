/** `pawl cancel`: cancels a call or a request. */
import type { Command } from "../command.ts";
import { act, actJson, actOptions, byOf, noSuchCall, withTarget } from "./act.ts";
import { askHost, printDone } from "./remote.ts";

export const cancelCommand: Command = {
  name: "cancel",
  summary: "Cancel a call, or a request with all its calls",
  usage: "<scope> <call or request>",
  minArgs: 2,
  maxArgs: 2,
  options: actOptions,
  json: actJson,
  examples: [
    ["pawl cancel alice turn-1:call-1", "one call"],
    ["pawl cancel alice turn-1", "a request"],
  ],
  run: async (input, terminal) => {
    const [, named = ""] = input.positionals;
    const whole = named.includes(":") ? { call: named } : { request: named };
    const asked = await askHost(input, terminal, (session) => session.cancel(whole));
    if (asked !== undefined) return printDone(terminal, asked.scope, `${named} was asked to stop`);
    return withTarget(input, terminal, (target) => {
      const [, whom = ""] = input.positionals;
      const by = byOf(input, terminal);
      const { calls, requests } = target.state;
      const done = `${whom} was asked to stop`;
      if (calls.at(whom) !== undefined)
        return act(target, terminal, { type: "call.cancelled", call: whom, by }, { call: whom, done });
      if (requests.at(whom) === undefined) throw noSuchCall(target, whom);
      return act(target, terminal, { type: "request.cancelled", request: whom, by }, { done });
    });
  },
};

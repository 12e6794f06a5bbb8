/** The host of a town: answers what its tools and its runtime ask of the program around them. Every answer takes a while. */
import type { HostPort } from "@pawl/runtime";
import { type Json, hashText, successOutput } from "@pawl/tool-value";
import { planOf } from "@pawl/tools";
import type { Claim, Ledger } from "./ledger.ts";
import type { Town } from "./town.ts";

export interface HostPlace {
  readonly town: Town;
  readonly ledger: Ledger;
  readonly threw: string[];
  /** Resolves after a while that goes by the name, if the host still lives then. */
  readonly pause: (name: string, most: number) => Promise<void>;
}

/** Returns a number that a text always has. */
export const numberOf = (text: string): number => Number.parseInt(hashText(text).slice(0, 6), 16);

export const hostOf = ({ town, ledger, threw, pause }: HostPlace): HostPort => {
  const { hooks, projection, resolver } = town.options;
  const effect = async (name: string, key: string, claim: Claim = "once"): Promise<void> => {
    await pause(name, 300);
    ledger.add({ effect: name, key, claim });
    await pause(`after ${name}`, 300);
  };
  const plugin = {
    id: "corpus",
    beforeToolCall: async ({
      tool,
      args,
      callId,
    }: {
      readonly tool: string;
      readonly args: Json;
      readonly callId: string;
    }) => {
      await pause(`hook ${callId}`, 400);
      return tool === "steps" ? [{ kind: "replace_tool_args", args: { ...(args as object), n: 2 } } as const] : [];
    },
    afterToolCall: async ({ callId }: { readonly callId: string }) => {
      await pause(`after ${callId}`, 400);
      return [];
    },
  };
  return {
    request: async (name, input, key) => {
      if (name === "trigger.emit") return { occurrence_id: "o", started_process_ids: [] };
      const { as, i } = input as { readonly as: string; readonly i: number };
      if (name === "person") await pause(`person ${as}`, 30_000);
      await effect(`${as}/${name}-${i}`, key, as.endsWith("unheard") ? "any" : "once");
      return i;
    },
    connectionRequired: ({ scope, call }) => ledger.finish(`connect ${scope} ${call}`),
    artifacts: async ({ run }) => pause(run, 300),
    plan: planOf,
    probe: async ({ schedule }) => pause(schedule, 300).then(() => ({ type: "succeeded", text: "ok" }) as const),
    tell: async ({ key }) => pause(key, 300),
    wake: async ({ wake_id }) => pause(wake_id, 300),
    engines: {
      mill: {
        run: async ({ id }, { append }) => {
          await append({ event_type: "note", payload: id, replay: { key: "note" } });
          await effect(`${id}/milled`, id);
          return { type: "success", value: 1 };
        },
      },
    },
    flow: { lambdas: { shout: async ({ input }) => pause(input, 500).then(() => `${input}!`) } },
    internalError: (call, thrown) => void threw.push(`${call}: ${String(thrown)}`),
    ...(hooks ? { plugins: [plugin] } : {}),
    ...(projection ? { project: async ({ callId }) => pause(`project ${callId}`, 400).then(() => undefined) } : {}),
    ...(resolver
      ? {
          resolveOutcome: async ({ call }) => {
            await pause(`resolve ${call}`, 800);
            return { type: "verified", output: successOutput("verified") } as const;
          },
        }
      : {}),
  };
};

/** The agent of the scene "Talk": its words, its tools, and the model that ships with the demo. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import type { AgentDefinition } from "@pawl/runtime/driver";
import type { Json } from "@pawl/tool-value";
import type { Actor } from "../engine/tool.ts";
import type { Line } from "./scripted-port.ts";

export const task = "Plan our team day: find a place for twelve, write the invitation, and pay the deposit.";

/** The turn's budget: a third answer of the model needs a person's word. */
export const answersAllowed = 2;

export const agentName = "planner";

/** The answer of the world to `find_venue`, and another one, for a run beside. */
export const venue = { venue: "Harbour Hall", garden: true, deposit: 400 };
export const otherVenue = { venue: "Mill House", garden: false, deposit: 150 };
export const venueStep = "search the venues";

/** `goesOn`: its model goes on with a text that it has begun. */
export const planner = (model: string, goesOn: boolean): AgentDefinition => ({
  system: "You plan events. Find a venue, write the invitation, pay the deposit, and say what you did.",
  routes: [{ provider: "demo", model, continue: goesOn }],
});

interface Payment {
  readonly to: string;
  readonly amount: number;
}

const resultOf = (results: readonly Json[], name: string): { readonly [field: string]: Json } =>
  (results.find((one) => typeof one === "object" && one !== null && name in one) ?? {}) as {
    readonly [field: string]: Json;
  };

/** The words of the model, by the results that it has. */
export const lines: readonly Line[] = [
  () => ({
    text:
      "I'll look for a place first. Twelve people want a long table, a garden would be good in case the sun comes out, " +
      "and it has to be near the station, because Ada comes by train and Grace brings her bicycle. Let me see what is free.",
    calls: [{ tool: "find_venue", args: { people: 12 } }],
  }),
  (results) => {
    const { venue: place = "the venue", garden, deposit = 0 } = resultOf(results, "venue");
    const outside = garden === true ? "There is a garden, so bring a hat" : "We stay inside, so never mind the weather";
    return {
      text:
        `${String(place)} is free on Friday. Here is the invitation. “Dear all, on Friday we meet at ${String(place)} for a day ` +
        `without screens. ${outside}. We begin at ten with coffee, we have lunch at one long table, and in the afternoon ` +
        `everybody shows one thing that they are proud of. The last train leaves at nine.” To keep the place I have to pay a deposit.`,
      calls: [{ tool: "pay_deposit", args: { to: place, amount: deposit } }],
    };
  },
  (results) => {
    const { done } = resultOf(results, "done") as { readonly done?: Payment };
    const money =
      done === undefined ? "The deposit is not paid, as you decided" : `${done.amount} € are paid to ${done.to}`;
    return { text: `${money}, and the invitation is ready to be sent. Have a good day, all twelve of you.`, calls: [] };
  },
];

const text = { type: "string" } as const;

export const teamDayTools = ({ world, worker }: Actor): readonly ToolDefinition[] => [
  defineTool({
    name: "find_venue",
    description: "Finds a venue that is free",
    durable: true,
    inputSchema: { type: "object", properties: { people: { type: "integer" } }, required: ["people"] } as const,
    execute: (_, ctx) =>
      ctx.run(venueStep, async ({ key }) => {
        await world.happen(venueStep, key, worker, 1600);
        return venue;
      }),
  }),
  defineTool({
    name: "pay_deposit",
    description: "Pays a deposit. A person approves it first",
    durable: true,
    needsApproval: true,
    inputSchema: {
      type: "object",
      properties: { to: text, amount: { type: "number", exclusiveMinimum: 0 } },
      required: ["to", "amount"],
    } as const,
    execute: async (args, ctx) => {
      await ctx.run("pay the deposit", ({ key }) => world.happen("pay the deposit", key, worker, 900));
      return { done: args };
    },
  }),
];

/** A tool that walks eight miles. Each mile is a step that returns where it was walked. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";

export type Place = "tab" | "host";

export const miles: readonly string[] = [
  "mile 1",
  "mile 2",
  "mile 3",
  "mile 4",
  "mile 5",
  "mile 6",
  "mile 7",
  "mile 8",
];
const mileMs = 1300;

export const walkTool = (place: Place): ToolDefinition =>
  defineTool({
    name: "walk",
    durable: true,
    execute: async (_, ctx) => {
      const walked: Place[] = [];
      for (const mile of miles) {
        const walk = async (): Promise<Place> => {
          await new Promise((resolve) => setTimeout(resolve, mileMs));
          return place;
        };
        walked.push(await ctx.run(mile, walk));
      }
      return { walked };
    },
  });

/** What a provider came to: a failure is a value, and its text is for whoever reads the flow. */
export interface ToolResult {
  readonly success: boolean;
  readonly output: string;
  readonly tool_name: string;
}

/** A result without its tool's name, which its registry adds. */
export type Answer = Omit<ToolResult, "tool_name">;

export const succeeded = (output: string): Answer => ({ success: true, output });
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
export const failed = (output: string): Answer => ({ success: false, output });

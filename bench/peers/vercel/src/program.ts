/** The programs of the Vercel Workflow peer; `workflow build` compiles them into `.well-known`. */
import { createHook } from "workflow";

export async function stepOf(i: number) {
  "use step";
  return { ok: true, i, value: `result-${i}`, cost: 0.0012, at: 1_700_000_000_000 + i };
}

export async function work(steps: number) {
  "use workflow";
  for (let i = 0; i < steps; i++) await stepOf(i);
  return "done";
}

export async function parks(steps: number, token: string) {
  "use workflow";
  for (let i = 0; i < steps; i++) await stepOf(i);
  await createHook<{ go: boolean }>({ token });
  await stepOf(steps);
  return "resumed";
}

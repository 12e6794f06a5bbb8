/** Where a case says that a body stands, and what the body met there. */
import { knownName } from "@pawl/testkit";
import type { JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { EffectError } from "../../src/index.ts";
import type { Capabilities } from "../../src/driver.ts";

export type Answer = E.Either<{ readonly code?: string; readonly message: string }, unknown>;

export const standingFields = ["call_id", "controller", "process"];

/** A case that does not speak of the call or of the process has one of each; `null` is none. */
export const standingOf = (input: JsonObject): Capabilities => ({
  callId: input["call_id"] === null ? undefined : ((input["call_id"] as string | undefined) ?? "c1"),
  isDurable: knownName("word", input["controller"] ?? "any", ["any", "durable", "no-durable"]) !== "no-durable",
  process: input["process"] === null ? undefined : ((input["process"] as string | undefined) ?? "p1"),
});

export const refusal = (misfit: EffectError | undefined): Answer =>
  misfit === undefined ? E.right({ ok: true }) : E.left({ code: misfit.code, message: misfit.message });

/** The value that a body came to, or the error that it met. */
export const answerOf = async (body: () => Promise<unknown>): Promise<Answer> => {
  try {
    return E.right(await body());
  } catch (thrown) {
    const { code, message } = thrown as EffectError;
    return E.left({ code, message });
  }
};

/**
 * `ctx.approve`: a body asks a person. The question is listed with the calls that await approval, and decided by the same
 * verbs; it survives restarts, and its body leaves memory meanwhile. Arguments that the person edited are checked by the
 * schema of the question: its JSON Schema where the decision comes in, and the schema itself in the body.
 */
import type { EffectResult } from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, requireRule, shownOf } from "../../error.ts";
import { type ArgsOf, type Schema, jsonSchemaOf } from "../../tool/argument.ts";
import { checkedNow } from "../../tool/check.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, refusing } from "./durable.ts";
import { wholeMs } from "./wait.ts";

export interface Question<S> {
  /** Tells the person in one line what is asked. */
  readonly title: string;
  /** The arguments that are asked about; the person may edit them. */
  readonly args?: unknown;
  /** Checks the arguments, edited ones too, and gives them their type. */
  readonly schema?: S;
  /** Answers `approved: false` where nobody has decided by then. */
  readonly timeoutMs?: number;
}

/** The decision of a person. `args`: those to go on with; `by`: who decided, unless nobody did in time. */
export type Decided<A> =
  | { readonly approved: true; readonly args: A; readonly by: string; readonly reason?: undefined }
  | { readonly approved: false; readonly reason: string; readonly by?: string; readonly args?: undefined };

export interface Approves {
  /** Asks a person, and waits for the decision. */
  readonly approve: <const S extends Schema<unknown>>(question: Question<S>) => Durable<Decided<ArgsOf<S>>>;
}

interface Answer {
  readonly approved: boolean;
  readonly args?: Json;
  readonly reason?: string;
  readonly by?: string;
}

/** Returns the arguments in the form of their schema; throws what is wrong with them. */
const fitting = ({ title, schema }: Question<Schema<unknown>>, args: Json): unknown => {
  if (schema === undefined) return args;
  const checked = checkedNow(schema, args, "arguments");
  if (E.isRight(checked)) return checked.right;
  throw new EffectError("invalid_tool_args", `the arguments of approval ${shownOf(title)}: ${checked.left}`);
};

const admitTitle = (title: unknown): void => {
  if (typeof title === "string" && title.trim() !== "") return;
  const wanted = "expected a text that is not blank";
  throw new EffectError("durable_effect_value", `the title of an approval: ${wanted}, found ${shownOf(title)}`);
};

const approve = (asking: Asking, question: Question<Schema<unknown>>): Durable<unknown> => {
  const { title, schema, timeoutMs } = question;
  requireRule(asking.facts.processApi.state().scope.protocol, "asked_approvals", "`ctx.approve`");
  admitTitle(title);
  const args = toJson(question.args ?? {}, `the arguments of approval ${shownOf(title)}`);
  fitting(question, args);
  const json = schema && jsonSchemaOf(schema, "input");
  const asked = { title, args, args_hash: stableHash(args), ...(json === undefined ? {} : { schema: json }) };
  const limit = timeoutMs === undefined ? {} : { deadline_ms: wholeMs(timeoutMs) };
  const read = (result: EffectResult): unknown => {
    const said = valueOf(result) as unknown as Answer;
    return said.approved ? { ...said, args: fitting(question, said.args ?? args) } : said;
  };
  const key = asking.nextName(asking.facts.life.named("approve"));
  return asking.askFor(read, key, { kind: "approval", ...asked, ...limit }, [title, args]);
};

export const approvals = (asking: Asking): Approves => ({
  approve: (question) => refusing("approve", () => approve(asking, question)) as Durable<never>,
});

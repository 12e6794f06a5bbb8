/**
 * Answers of models, as the log has them. What repeats the request stays out of it: a prompt would be on record once for
 * each of its answers. So do headers, and what the provider sent before the SDK read it.
 *
 * The parts of a streamed answer are JSON. Words come one by one, so a part that says more of what the last one said is
 * on record as its text alone:
 *
 *   { "type": "text-start", "id": "0" }  { "type": "text-delta", "id": "0", "delta": "Hel" }  "lo "  "wor"  "ld"
 */
import { keptValue, valueOfKept } from "@pawl/runtime/driver";
import type { Json } from "@pawl/tool-value";

/** A part of what an SDK streams: of an answer, or of the message that a page shows. */
export interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Fields that a text is added to. */
const growing: { readonly [type: string]: string } = {
  "text-delta": "delta",
  "reasoning-delta": "delta",
  "tool-input-delta": "delta",
};
/** The message of a page has another name for one of them. */
const growingOnPages = { ...growing, "tool-input-delta": "inputTextDelta" };

const isUndefined = ([, value]: readonly [string, unknown]): boolean => value === undefined;

/** Writes and reads the parts of one stream, in their order. */
export class PartForm {
  readonly #fields: { readonly [type: string]: string };
  #last: Part | undefined;

  constructor(of: "model" | "page") {
    this.#fields = of === "model" ? growing : growingOnPages;
  }

  /** Returns the text of a part that says nothing else than more of what the last one said. */
  #moreOf(part: Part): string | undefined {
    const field = this.#fields[part.type];
    const text = field === undefined ? undefined : part[field];
    if (field === undefined || typeof text !== "string" || this.#last?.type !== part.type) return undefined;
    const others = (of: Part): string => JSON.stringify({ ...of, [field]: "" });
    return others(part) === others(this.#last) ? text : undefined;
  }

  write(part: Part): Json {
    const more = this.#moreOf(part);
    this.#last = part;
    if (more !== undefined) return more;
    const said = Object.fromEntries(Object.entries(part).filter((entry) => !isUndefined(entry)));
    return keptValue(said, `a part of type \`${part.type}\``);
  }

  read(json: Json): Part {
    if (typeof json !== "string") return (this.#last = valueOfKept(json) as Part);
    const field = this.#fields[this.#last?.type ?? ""];
    if (this.#last === undefined || field === undefined)
      throw new TypeError(`a stream cannot begin with the text ${JSON.stringify(json)}: it has no part before it`);
    return (this.#last = { ...this.#last, [field]: json });
  }
}

/** An answer as it describes itself. The SDK makes up what is missing, and would make up something else in each run. */
interface AboutAnswer {
  readonly id?: string;
  readonly timestamp?: Date;
  readonly modelId?: string;
}

export const aboutAnswer = ({ modelId }: { readonly modelId: string }): Required<AboutAnswer> => ({
  id: crypto.randomUUID(),
  timestamp: new Date(),
  modelId,
});

/** Takes from an answer what is worth a place in the log. */
export const recordedAnswer = (answer: object, about: Required<AboutAnswer>): object => {
  const {
    request: _request,
    response = {},
    ...rest
  } = answer as { readonly request?: unknown; readonly response?: object };
  const {
    headers: _headers,
    body: _body,
    ...said
  } = response as { readonly headers?: unknown; readonly body?: unknown };
  const known = Object.entries(said).filter((entry) => !isUndefined(entry));
  return { ...rest, response: { ...about, ...Object.fromEntries(known) } };
};

const markOf = (name: string): symbol => Symbol.for(name === "" ? "vercel.ai.error" : `vercel.ai.error.${name}`);

/** The recorded part of an error of a provider. Its request and its headers are left out. */
export interface FailedAnswer {
  readonly name: string;
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
}

const told = ["statusCode", "url", "responseBody", "data", "code", "modelId", "modelType", "functionality"];

export const failedAnswer = (thrown: unknown): FailedAnswer => {
  if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown), fields: {} };
  const fields = Object.entries(thrown).filter(([name, value]) => told.includes(name) && isPlain(value));
  return { name: thrown.name, message: thrown.message, fields: Object.fromEntries(fields) };
};

const isPlain = (value: unknown): boolean => {
  try {
    keptValue(value, "a field");
    return value !== undefined;
  } catch {
    return false; // No reason to lose the error.
  }
};

/**
 * Makes the error of a record, which the SDK knows for one of its own. It says that it is not worth another try: those were
 * made within the step, and another one would be another step.
 */
export const errorOf = ({ name, message, fields }: FailedAnswer): Error => {
  const error = Object.assign(new Error(message), fields, { isRetryable: false });
  Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  if (name.startsWith("AI_")) Object.assign(error, { [markOf("")]: true, [markOf(name)]: true });
  return error;
};

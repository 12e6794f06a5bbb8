/** Reasons in words: what something waits for. */
import type { CallWaits, EffectReason, OtherWaits, TurnWaits } from "./model.ts";
import type { NamedRequest } from "../call/vocabulary.ts";
import type { EventOf } from "../kernel/vocabulary.ts";

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
};

const slotWords = ({ because, behind }: Extract<CallWaits, { readonly type: "slot" }>): string => {
  switch (because) {
    case "preparation":
      return `all calls of its batch to be prepared: ${listed(behind)}`;
    case "concurrency":
      return `a slot in its batch, which run now: ${listed(behind)}`;
    case "serial":
      return `its turn, since it may not run beside others: ${listed(behind)}`;
  }
};

const resumeCauses = {
  owner_lost: "its process died",
  suspended: "what it waited for has come",
  continued: "it goes on with other arguments",
  executor_back: "its executor is back",
  run_again: "somebody decided so",
  cancelled: "it was cancelled, and cleans up",
  other_version: "there is another version of its tool",
} as const;

const unknownCauses = {
  owner_lost: "its process died while it ran",
  crash_loop: "its process died again and again while it ran",
  diverged: "the tool's code changed",
} as const;

const run = ({ attempt, run: n }: { readonly attempt: number; readonly run: number }): string =>
  `attempt ${attempt}, run ${n}`;

const stepMark = "durable-step:";

/** The name that a program gave a step, out of its key. */
const stepId = (key: string): string => {
  const at = key.indexOf(stepMark);
  return at === -1 ? key : key.slice(at + stepMark.length);
};

/** Counts crashes in words: "4 crashes in a row, last in step `hotel`". */
export const crashWords = (count: number, step: string | undefined): string => {
  const counted = count === 1 ? "1 crash" : `${count} crashes in a row`;
  return step === undefined ? counted : `${counted}, last in step \`${stepId(step)}\``;
};

type Unknown = Extract<CallWaits, { readonly type: "resolver" }>;

const causeWords = ({ cause, crashes, step }: Unknown): string =>
  crashes === undefined ? unknownCauses[cause] : `${unknownCauses[cause]} (${crashWords(crashes, step)})`;

const unknownWords = (what: Unknown): string => {
  const { failed = [] } = what;
  const why = `somebody to resolve its outcome, which is unknown: ${causeWords(what)}`;
  return failed.length === 0 ? why : `another version of its tool than ${failed.join(" and ")}, or for ${why}`;
};

type Diverged = Pick<EventOf<"call.diverged">, "expected" | "found" | "differs">;

const requestWords = ({ kind, key }: NamedRequest): string => `${kind} \`${stepId(key)}\``;

const foundWords = ({ found, differs }: Diverged): string => {
  const { expected: was, found: is, fields = [], actedOn } = differs ?? {};
  if (actedOn !== undefined)
    return `${found}: it may have acted on step \`${stepId(actedOn)}\` before that was on record`;
  if (is === undefined) return found;
  if (was === undefined || was.key !== is.key) return requestWords(is);
  if (was.kind !== is.kind) return `a ${is.kind} under that key`;
  const paths = fields.map(({ path }) => path || "all of it");
  return paths.length === 0 ? "it with another input" : `it with another input (${listed(paths)})`;
};

/** Says what a body was expected to ask for, and what it did: "expected step `hotel`, found its end". */
export const divergenceWords = (diverged: Diverged): string => {
  const { expected, differs } = diverged;
  if (differs === undefined) return `expected ${expected}, found ${diverged.found}`;
  const was = differs.expected === undefined ? expected : requestWords(differs.expected);
  return `expected ${was}, found ${foundWords(diverged)}`;
};

/** Goes on from "waits for". */
export const waitsWords = (what: CallWaits): string => {
  switch (what.type) {
    case "turn_to_prepare":
      return `its turn to be prepared, behind ${what.behind}`;
    case "hook":
      return `the host's hook ${what.phase === "before" ? "before" : "after"} the call`;
    case "args_check":
      return what.editedBy === undefined
        ? "a check of its arguments"
        : `a check of the arguments that ${what.editedBy} edited`;
    case "preparation":
      return "its tool to prepare it";
    case "approval":
      return `a person's approval of the arguments ${what.argsHash}`;
    case "slot":
      return slotWords(what);
    case "body":
      return `its body, which ${what.owner} runs (${run(what)})`;
    case "stop":
      return `its body to stop, since it was cancelled, or its time to stop to end; ${what.owner} runs it (${run(what)})`;
    case "clean_up":
      return `its body to clean up, since it was cancelled; ${what.owner} runs it (${run(what)})`;
    case "resume":
      return `a process to run its body again: ${resumeCauses[what.cause]} (${run(what)})`;
    case "resume_pause":
      return `the pause after ${crashWords(what.resumes, what.step)} (${run(what)})`;
    case "suspended":
      return what.link === undefined
        ? "what its body, which is out of memory meanwhile, waits for"
        : `room for a message to ${what.link}; its body is out of memory meanwhile`;
    case "executor":
      return `an executor of ${what.toolId}`;
    case "queue":
      return `a place in queue ${what.queue}`;
    case "retry":
      return `the pause before attempt ${what.attempt} of ${what.of}`;
    case "resolver":
      return unknownWords(what);
    case "completion":
      return `the outside to complete it under ${what.key}`;
    case "projection":
      return "the host to project its result";
    case "batch":
      return what.calls.length === 0
        ? `the replies of its batch ${what.batch} to be recorded`
        : `the rest of its batch: ${listed(what.calls)}`;
  }
};

/** An effect, and what would settle it. */
export const effectWords = ({ key, what, until }: EffectReason): string => {
  switch (what.kind) {
    case "step": {
      const tried = what.try === undefined ? "" : `, try ${what.try}`;
      return until === undefined
        ? `step ${key} to be run (${what.recovery}${tried})`
        : `step ${key} to be tried again${tried}`;
    }
    case "wait":
      return `a resolution of ${what.wait}`;
    case "batch":
      return what.calls.length === 0
        ? `the replies of child batch ${key} to be recorded`
        : `child calls: ${listed(what.calls)}`;
    case "message":
      return what.sent === undefined
        ? `${key}: an older link to ${what.to} to close`
        : `${key}: an answer of ${what.to} to message ${what.sent.number} of link ${what.sent.link}`;
    case "select":
      return `${what.mode} of ${listed(what.keys)}`;
    case "approval":
      return `a person's approval: ${what.title}`;
    case "sleep":
      return `the time of ${key}`;
    case "cleanup":
      return `a cancel, to clean up as ${key}`;
    case "host":
    case "trigger":
      return what.asksPerson === true ? `a person, whom the host asks for ${key}` : `the host's answer to ${key}`;
    case "event":
      return `its process to record ${key}`;
  }
};

/** Describes in words what keeps a scope at work beside its calls. */
export const otherWords = (what: OtherWaits): string => {
  switch (what.type) {
    case "move":
      return `the scope moves to ${what.to}, and waits to hear whether it arrived`;
    case "moved":
      return "the scope has moved away: this copy is read-only for ever";
    case "reply":
      return `request ${what.request} has its reply, which nobody has acknowledged`;
    case "lambda":
      return `flow ${what.request} waits for lambda ${what.name} to be applied (${what.id})`;
    case "external_cancel":
      return `the host is asked to end outside work under ${what.key}, and has not acknowledged it`;
    case "telling":
      return `the session is to be told ${what.key}`;
    case "permit":
      return `run ${what.run} waits for a permit`;
    case "artifacts":
      return `the files of attempt ${what.attempt} of run ${what.process} are to be written`;
    case "schedule":
      return `schedule ${what.schedule} fires`;
    case "planning":
      return `schedule ${what.schedule} waits to hear when it fires next`;
    case "probe":
      return `fire ${what.fire} of schedule ${what.schedule} waits for its probe`;
    case "wake":
      return `a wake ${what.key} is to be delivered`;
    case "message":
      return `message ${what.number} (${what.message}) of link ${what.link} to ${what.to} has no answer`;
    case "environment":
      return `process ${what.process} waits for the tools of ${what.envRef}`;
    case "engine":
      return what.isCancelled
        ? `process ${what.process} is cancelled, and waits for its engine to end`
        : `process ${what.process} is run by its engine`;
    case "signal":
      return `process ${what.process} waits for signal ${what.name}`;
    default:
      return turnWords(what);
  }
};

const attemptWords = ({ n, attempt }: { readonly n: number; readonly attempt: number }): string =>
  `call ${n}, attempt ${attempt}`;

const turnWords = (what: TurnWaits): string => {
  const turn = `turn ${what.request}`;
  switch (what.type) {
    case "turn_queued":
      return what.joins ? `${turn} waits to join turn ${what.behind}` : `${turn} waits behind turn ${what.behind}`;
    case "agent":
      return `${turn} waits for agent ${what.agent} to be published`;
    case "model":
      return `${turn} waits for the model: ${what.provider}/${what.model}, ${attemptWords(what)}, ${what.mode}; on record: ${what.units}`;
    case "model_stop":
      return `${turn} stops, and waits for its model to say what it has: ${what.provider}/${what.model}, ${attemptWords(what)}`;
    case "model_pause":
      return `${turn} pauses after ${what.cause}, before ${attemptWords(what)}`;
    case "model_outcome":
      return `${turn} waits to hear what became of its model, whose owner was lost: ${attemptWords(what)}`;
    case "turn_calls":
      return `${turn} waits for the calls of model call ${what.n}`;
    case "turn_check":
      return `${turn} waits for the host to check model call ${what.n}`;
    case "budget": {
      const reached = what.reached.map(
        ({ of, what: name, limit, used }) => `${name} of the ${of}: ${used} of ${limit}`,
      );
      return `${turn} waits for a person to decide on its budget (question ${what.ask}: ${reached.join(", ")})`;
    }
  }
};

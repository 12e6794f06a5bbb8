/** Sentences for commands: each one says what is asked of the driver, and what the driver owes after a crash. */
import { type CommandOf, type Command, type Duty, dutyOf } from "@pawl/sansio-core";
import { keyName } from "./entry.ts";
import { turnCommandWords } from "./turn-words.ts";

const performed: { readonly [P in Duty["performed"]]: string } = {
  at_once: "runs at once",
  durable: "runs after this event is stored",
  when_leased: "runs at once while the lease holds, otherwise after this event is stored",
};

const afterLoss: { readonly [L in Duty["afterLoss"]]: string } = {
  again: "the next owner does it again",
  counted: "the next owner runs it again, and the run is counted",
  never: "it is never done again",
  when_asked: "it is done again when it is asked for",
  until_acknowledged: "it is repeated until it is acknowledged",
  from_the_log: "it is told again from the log",
  parked: "it stays parked until it is completed from outside",
};

/** Says in words when a command is performed. */
export const dutyWords = (command: Command): string => {
  const duty = dutyOf(command);
  const answered = duty.answeredBy === undefined ? "" : `; answered by ${duty.answeredBy}`;
  return `${performed[duty.performed]}; after a crash ${afterLoss[duty.afterLoss]}${answered}`;
};

const runWords = ({ attempt, run }: { readonly attempt: number; readonly run: number }): string =>
  attempt === 1 && run === 1 ? "" : ` (attempt ${attempt}, run ${run})`;

const runCauses: { readonly [C in NonNullable<CommandOf<"tool.execute">["cause"]>]: string } = {
  owner_lost: "its process died",
  suspended: "what it waited for has arrived",
  continued: "it continues with other arguments",
  executor_back: "its tool has an executor again",
  run_again: "somebody decided to run it again",
  cancelled: "it was cancelled, and has to clean up",
  other_version: "there is another version of its tool",
};

const unknownCauses: { readonly [C in CommandOf<"outcome.resolve">["cause"]]: string } = {
  owner_lost: "its process died while it ran",
  crash_loop: "its process died again and again while it ran",
  diverged: "its code no longer matches its log",
};

const observed = {
  call_started: "has started",
  call_completed: "has completed",
  call_settled_late: "has settled, too late to count",
  call_parked: "waits for a person or for the outside",
  call_decided: "is decided",
  call_unknown: "waits for somebody to decide on it, since its outcome is unknown",
  call_crashed: "has crashed",
} as const;

/** Says in one sentence what a command asks for, and why. */
export const commandWords = (command: Command): string => {
  switch (command.type) {
    case "hook.run":
      return `The host's hook ${command.phase} ${command.tool} will run.`;
    case "args.check":
      return `The arguments of ${command.call} will be checked against the tool's schema.`;
    case "tool.prepare":
      return `The tool will prepare ${command.call}: it was just requested, and it is its turn.`;
    case "tool.execute":
      return command.cause === undefined
        ? `The body of ${command.tool} will run${runWords(command)}.`
        : `The body of ${command.tool} will run again${runWords(command)}: ${runCauses[command.cause]}.`;
    case "tool.cancel":
      return `The body of ${command.call} will be stopped.`;
    case "step.run":
      return `Step “${keyName(command.key)}” will run${runWords(command)}: its request is recorded, its result is not.`;
    case "step.answer":
      return `The body gets the result of “${keyName(command.key)}” from event ${command.value}.`;
    case "host.request":
      return `The host is asked for ${command.name}, under its replay key.`;
    case "outcome.resolve":
      return `Somebody has to resolve the outcome of ${command.call}: ${unknownCauses[command.cause]}.`;
    case "result.project":
      return `The host will project the result of ${command.tool} for the model.`;
    case "external.cancel":
      return `The external work under ${command.key} will be cancelled.`;
    case "replies.record":
      return `The replies of a batch inside ${command.call} will be recorded: its body waits for them.`;
    case "reply":
      return `Request ${command.request} is answered: all of its calls have ended.`;
    case "observe":
      return `Observers are told that ${command.tool} ${observed[command.what]}.`;
    case "send":
      return `Message ${command.number} of link ${command.link} will be sent to ${command.to}.`;
    default:
      return otherWords(command);
  }
};

type Other = Exclude<Command["type"], "tool.execute">;
const otherSentences: { readonly [T in Other]?: string } = {
  "stream.answer": "The body gets the chunks that are on record.",
  "lambda.apply": "A lambda will be applied: the flow has reached it.",
  "flow.observe": "Observers are told about a step of the flow.",
  "message.answer": "The sender of a message gets its answer.",
  "wake.deliver": "The session will be woken: its process has news.",
  "env.load": "The tools of a captured environment will be published here.",
  "engine.run": "An external engine will run the process.",
  "engine.cancel": "The engine will cancel the process.",
  "process.observe": "Observers are told about the process.",
  "place.take": "The call asks for a place in the queue of its tool.",
  "permit.take": "The run asks for one of the worker's slots.",
  "permit.release": "The run returns its slot.",
  "spawn.answer": "The caller of the run gets the answer.",
  "artifacts.write": "The files of the run will be written from its reports.",
  "session.tell": "The session will be told.",
  "task.observe": "Observers are told about the task.",
  "run.observe": "Observers are told about the run.",
  "schedule.next": "The driver is asked for the next time of the schedule.",
  "schedule.answer": "The creator of the schedule gets the answer.",
  "probe.run": "The monitor's probe will run.",
  "deletion.report": "The deletion of the session is complete: all of its processes have reported.",
};

const otherWords = (command: Command): string =>
  otherSentences[command.type as Other] ?? turnCommandWords(command) ?? command.type;

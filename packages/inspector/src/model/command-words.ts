/** Commands in words: what an event asked of the world, and what the driver owes for it. */
import { type Command, type Duty, dutyOf } from "@pawl/sansio-core";
import { keyName } from "./entry.ts";

const performed: { readonly [P in Duty["performed"]]: string } = {
  at_once: "is carried out at once",
  durable: "is carried out once this event is stored",
  when_leased: "is carried out at once while the lease holds, else once this event is stored",
};

const afterLoss: { readonly [L in Duty["afterLoss"]]: string } = {
  again: "asked again of the next owner",
  counted: "run again by the next owner, counted",
  never: "never done again",
  when_asked: "done again when it is asked for",
  until_acknowledged: "repeated until it is acknowledged",
  from_the_log: "told again from the log",
  parked: "stays parked for whoever completes it",
};

/** Says in words when a command is performed. */
export const dutyWords = (command: Command): string => {
  const duty = dutyOf(command);
  const answered = duty.answeredBy === undefined ? "" : `; it is answered by ${duty.answeredBy}`;
  return `${performed[duty.performed]}; after a crash ${afterLoss[duty.afterLoss]}${answered}`;
};

const runWords = ({ attempt, run }: { readonly attempt: number; readonly run: number }): string =>
  attempt === 1 && run === 1 ? "" : ` (attempt ${attempt}, run ${run})`;

const observed = {
  call_started: "has started",
  call_completed: "has completed",
  call_settled_late: "has settled, too late to count",
  call_parked: "is parked",
} as const;

/** What a command asks for, and why this event asks for it. */
export const commandWords = (command: Command): string => {
  switch (command.type) {
    case "hook.run":
      return `The host's hook ${command.phase} ${command.tool} is to be heard.`;
    case "args.check":
      return `The arguments of ${command.call} are to be checked against the tool's schema.`;
    case "tool.prepare":
      return `The tool is to prepare ${command.call}: it was just requested, and it is its turn.`;
    case "tool.execute":
      return `The body of ${command.tool} is to run${runWords(command)}${command.cause === undefined ? "" : `, since ${command.cause.replaceAll("_", " ")}`}.`;
    case "tool.cancel":
      return `The body of ${command.call} is to stop.`;
    case "step.run":
      return `Step “${keyName(command.key)}” is to be done${runWords(command)}: its request is on record, its result is not.`;
    case "step.answer":
      return `The body is handed the result of “${keyName(command.key)}”, which event ${command.value} holds.`;
    case "host.request":
      return `The host is asked for ${command.name}, under its replay key.`;
    case "outcome.resolve":
      return `Somebody has to say what became of ${command.call}: ${command.cause.replaceAll("_", " ")}.`;
    case "result.project":
      return `The host is to project the result of ${command.tool} for the model.`;
    case "external.cancel":
      return `The outside work under ${command.key} is to end.`;
    case "replies.record":
      return `The replies of a batch inside ${command.call} are to be recorded: its body waits for them.`;
    case "reply":
      return `Request ${command.request} is answered: all of its calls have ended.`;
    case "observe":
      return `Observers hear that ${command.tool} ${observed[command.what]}.`;
    case "send":
      return `Message ${command.number} of link ${command.link} is to reach ${command.to}.`;
    default:
      return otherWords(command);
  }
};

type Other = Exclude<Command["type"], "tool.execute">;
const otherSentences: { readonly [T in Other]?: string } = {
  "lambda.apply": "A lambda is to be applied: the flow has come to it.",
  "flow.observe": "Observers hear of a step of the flow.",
  "message.answer": "The sender of a message gets its answer.",
  "wake.deliver": "The session is to be woken: its process has news.",
  "env.load": "The tools of a captured environment are to be published here.",
  "engine.run": "An engine outside is to run the process.",
  "engine.cancel": "The engine is to end the process.",
  "process.observe": "Observers hear of the process.",
  "permit.take": "The run wants a place among those of the worker.",
  "permit.release": "The run gives its place back.",
  "spawn.answer": "Whoever asked for the run is told what became of it.",
  "artifacts.write": "The files of the run are to be written from its reports.",
  "session.tell": "The session is to be told.",
  "task.observe": "Observers hear of the task.",
  "run.observe": "Observers hear of the run.",
  "schedule.next": "The driver is asked when the schedule fires next.",
  "schedule.answer": "Whoever asked for the schedule is told.",
  "probe.run": "The monitor's tool is to be tried.",
  "deletion.report": "All processes of the deleted session have said what becomes of them.",
};

const otherWords = ({ type }: Command): string => otherSentences[type as Other] ?? type;

/** Turns in words: what their events hold, and what their commands ask for. */
import type { Command, CommandOf, Event } from "@pawl/sansio-core";
import type { Piece } from "@pawl/sansio-core/driver";

type Observed = CommandOf<"turn.observe">;

const partWords = ({ text = "", part }: Piece): string => {
  if (part === undefined) return text;
  if (part.type === "text") return part.text;
  return part.type === "tool-call" ? ` → ${part.tool}` : ` [${part.type}]`;
};
const said = (pieces: readonly Piece[]): string => pieces.map(partWords).join("").trim();

const asked = ({ n, attempt }: { readonly n: number; readonly attempt: number }): string =>
  attempt === 1 ? `answer ${n}` : `answer ${n}, attempt ${attempt}`;

type Submitted = Extract<Event, { readonly type: "turn.submitted" }>;
const messageWords = ({ messages }: Submitted): string => {
  const content = messages.at(-1)?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
};

/** Says what an event of a turn holds; undefined for other events. */
export const turnGist = (event: Event): string | undefined => {
  switch (event.type) {
    case "agent.published":
    case "agent.missing":
      return event.agent;
    case "turn.submitted":
      return `${event.request}: ${messageWords(event)}`;
    case "model.streamed":
    case "model.stopped":
      return `${asked(event)}: ${said(event.pieces)}`;
    case "model.answered":
      return `${asked(event)}: ${said(event.pieces) || event.finish.reason}`;
    case "model.failed":
      return `${asked(event)}: ${event.class}, ${event.message}`;
    case "budget.decided":
      return `${event.decision} by ${event.by}`;
    default:
      return undefined;
  }
};

const observedWords = (command: Observed): string => {
  switch (command.what) {
    case "turn_started":
      return "the turn has started";
    case "messages_taken":
      return `the turn takes in the messages of ${command.turns.join(", ")}`;
    case "model_asked":
      return `the model is asked for ${asked(command)}`;
    case "model_reset":
      return `${asked(command)} goes on after ${command.keep} units that are on record`;
    case "model_answered":
      return `${asked(command)} is on record`;
    case "model_failed":
      return `answer ${command.n} has failed: ${command.class}`;
    case "turn_parked":
      return `the turn waits for a person: ${command.reached.map(({ what }) => what).join(", ")} are used up`;
    case "turn_resumed":
      return "the turn goes on: its budget is decided";
    case "controls_ignored":
      return "controls in the answer do nothing here";
    case "frame_switched":
      return `the conversation goes on in frame ${command.frame}`;
    case "compacted":
      return `the history up to event ${command.upto} is summed up`;
    case "turn_ended":
      return `the turn has ended: ${command.end.status}`;
  }
};

/** Says in one sentence what a command of a turn asks for; undefined for other commands. */
export const turnCommandWords = (command: Command): string | undefined => {
  switch (command.type) {
    case "agent.load":
      return `The host is asked for the agent ${command.agent}.`;
    case "model.ask":
      return `The model will be asked for ${asked(command)}, under its key.`;
    case "model.stop":
      return `The model will be told to stop ${asked(command)}.`;
    case "model.resolve":
      return `The host has to say what became of ${asked(command)}: its process died.`;
    case "turn.check":
      return `The host will look at the turn ${command.at === "before_end" ? "before it ends" : "before the model is asked"}.`;
    case "turn.observe":
      return `Observers are told: ${observedWords(command)}.`;
    default:
      return undefined;
  }
};

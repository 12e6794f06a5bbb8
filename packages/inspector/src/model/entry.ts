/** One event as a row of a list: its topic, and its content in a few words. */
import type { Event, EventType, Recorded } from "@pawl/sansio-core";
import { type Json, stringify } from "@pawl/tool-value";
import { turnGist } from "./turn-words.ts";

/** The subject of an event, by the concern that records it. */
export type Topic = "scope" | "request" | "call" | "effect" | "wait" | "approval" | "process" | "message" | "long";

export interface Entry {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly type: EventType;
  readonly topic: Topic;
  /** The call that the event names, if any. */
  readonly call: string | undefined;
  readonly gist: string;
}

const topics: readonly (readonly [prefix: string, Topic])[] = [
  ["scope.", "scope"],
  ["owner.", "scope"],
  ["clock.", "scope"],
  ["catalog.", "scope"],
  ["request.", "request"],
  ["reply.", "request"],
  ["flow.", "request"],
  ["lambda.", "request"],
  ["approval.", "approval"],
  ["effect.", "effect"],
  ["step.", "effect"],
  ["host.", "effect"],
  ["replies.", "effect"],
  ["wait.", "wait"],
  ["process.", "process"],
  ["handle", "process"],
  ["session.", "process"],
  ["message.", "message"],
  ["link.", "message"],
  ["wake.", "message"],
  ["run.", "long"],
  ["task.", "long"],
  ["schedule.", "long"],
  ["probe.", "long"],
  ["permit.", "long"],
  ["artifacts.", "long"],
];

/** Groups the types of events for colours and filters. */
export const topicOf = (type: EventType): Topic => topics.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "call";

const maxLength = 90;
const cut = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text);

/** Cuts hashes and UUIDs to eight characters, which are enough to tell them apart. */
const shorten = (text: string): string =>
  text.replace(/([0-9a-f]{8})(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,})/g, "$1…");
const brief = (json: Json): string => cut(stringify(json));

/** Returns the part of a replay key that the tool's author wrote. */
export const keyName = (key: string): string => key.replace(/^(?:durable-)?[a-z_]+(?:-[a-z_]+)*:/, "");

const calls = (count: number): string => (count === 1 ? "1 call" : `${count} calls`);

const gistOf = (event: Event): string => {
  switch (event.type) {
    case "scope.opened":
      return `epoch ${event.epoch}, owned by ${event.owner}`;
    case "owner.lost":
      return event.owner;
    case "catalog.published":
      return event.tools.map(({ name }) => name).join(", ");
    case "request.submitted":
      return `${event.request}: ${calls(event.calls.length)} of ${event.calls.map(({ tool }) => tool).join(", ")}`;
    case "call.prepared":
      return event.preparation.type === "prepared" ? brief(event.preparation.args) : "finished";
    case "call.dispatched":
      return `to ${event.owner}, attempt ${event.attempt}`;
    case "call.settled":
      return event.result.type === "pending" ? "pending" : event.result.output.outcome.status;
    case "call.resumed":
      return `run ${event.run}, ${event.cause.replace("_", " ")}`;
    case "call.diverged":
      return `request ${event.position}: expected ${event.expected}, found ${event.found}`.replaceAll(
        "durable-step:",
        "",
      );
    case "approval.decided":
      return `${event.decision.type.replace("_", ", ")} by ${event.by}`;
    case "effect.requested":
      return `${event.effect.kind} ${keyName(event.key)}`;
    case "step.settled":
    case "host.answered": {
      const { result } = event;
      return `${keyName(event.key)} → ${result.status === "ok" ? brief(result.value) : result.error.message}`;
    }
    case "wait.resolved":
      return `${event.resolution.status} ${event.key}`;
    case "process.event_appended":
      return event.request.event_type;
    case "run.requested":
      return event.registration.identity.label ?? event.registration.id;
    case "schedule.requested":
      return event.schedule.description;
    case "message.received":
      return `${event.message.type.replaceAll("_", " ")} from ${event.from}`;
    case "task.updated":
      return [event.task, event.update.state, event.update.summary].filter(Boolean).join(" ");
    default:
      return turnGist(event) ?? otherGist(event);
  }
};

/** Describes any other event by the first name that it carries. */
const otherGist = (event: Event): string => {
  const fields = event as { readonly [field: string]: unknown };
  const named = ["request", "key", "task", "run", "schedule", "peer", "to", "by", "call"].find(
    (name) => typeof fields[name] === "string",
  );
  return named === undefined ? "" : `${named} ${String(fields[named])}`;
};

/** Puts the call in front of the gist of an event about a call. */
const fullGist = (event: Event, topic: Topic): string => {
  const isOfCall = topic === "call" || topic === "approval";
  const gist = gistOf(event);
  if (!isOfCall || !("call" in event)) return gist;
  return gist === "" || gist === `call ${event.call}` ? String(event.call) : `${event.call}: ${gist}`;
};

/** Describes a line of a log for the list of events. */
export const entryOf = ({ seq, at, epoch, event }: Recorded): Entry => {
  const topic = topicOf(event.type);
  const call = "call" in event && typeof event.call === "string" ? event.call : undefined;
  return { seq, at, epoch, type: event.type, topic, call, gist: cut(shorten(fullGist(event, topic))) };
};

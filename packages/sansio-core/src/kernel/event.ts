/** Events are what happened: the only thing that is recorded. */
import type { ApprovalEvent } from "../call/approval-model.ts";
import type { BackgroundEvent } from "../run/model.ts";
import type { CallEvent } from "../call/model.ts";
import type { CatalogEvent } from "../catalog/model.ts";
import type { EffectEvent } from "../call/effect-model.ts";
import type { FlowEvent } from "../flow/model.ts";
import type { HandleEvent } from "../link/handle-model.ts";
import type { LinkEvent } from "../link/model.ts";
import type { OutboxEvent } from "../link/outbox-model.ts";
import type { ProcessScopeEvent } from "../process/model.ts";
import type { RequestEvent } from "../request/model.ts";
import type { ScheduleEvent } from "../schedule/model.ts";
import type { ScopeEvent } from "../scope/model.ts";
import type { WaitEvent } from "../wait/model.ts";

export type Event =
  | ScopeEvent
  | CatalogEvent
  | RequestEvent
  | CallEvent
  | ApprovalEvent
  | EffectEvent
  | WaitEvent
  | OutboxEvent
  | LinkEvent
  | ProcessScopeEvent
  | HandleEvent
  | FlowEvent
  | BackgroundEvent
  | ScheduleEvent;
export type EventType = Event["type"];
export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>;

/** An event with its place in the log and its time. */
export interface Envelope {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

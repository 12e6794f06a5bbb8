/**
 * The list of concerns: the one place that names them all. Their types are put together here as well, so that a new
 * concern touches its own folder and this file. A concern imports from those above it in the list, never from below;
 * what it has to tell those, it says by a signal.
 */
import { about } from "./about/concern.ts";
import type { AboutEvent, AboutRows, AboutSignal } from "./about/model.ts";
import type { ApprovalEvent } from "./call/approval.ts";
import { call } from "./call/concern.ts";
import type { CallCommand, CallRows, CallSignal } from "./call/contract.ts";
import type { EffectEvent } from "./call/effect/effect.ts";
import type { CallEvent } from "./call/vocabulary.ts";
import type { StreamEvent } from "./call/effect/stream.ts";
import { catalog } from "./catalog/concern.ts";
import type { CatalogEvent, CatalogRows } from "./catalog/model.ts";
import { flow } from "./flow/concern.ts";
import type { FlowCommand, FlowEvent, FlowRows, FlowSignal } from "./flow/model.ts";
import type { Place } from "./kernel/vocabulary.ts";
import { link } from "./link/concern.ts";
import type { HandleEvent } from "./link/handle.ts";
import type { LinkCommand, LinkEvent, LinkRows, LinkSignal } from "./link/model.ts";
import type { OutboxEvent } from "./link/outbox.ts";
import { type ProcessCommand, type ProcessRows, type ProcessSignal, process } from "./process/concern.ts";
import type { ProcessScopeEvent } from "./process/model.ts";
import { request } from "./request/concern.ts";
import type { RequestCommand, RequestEvent, RequestRows, RequestSignal } from "./request/model.ts";
import { run } from "./run/concern.ts";
import type { BackgroundEvent, RunCommand, RunRows, RunSignal } from "./run/model.ts";
import { schedule } from "./schedule/concern.ts";
import type { ScheduleCommand, ScheduleEvent, ScheduleRows, ScheduleSignal } from "./schedule/model.ts";
import { scope } from "./scope/concern.ts";
import type { ScopeEvent, ScopeRows } from "./scope/model.ts";
import { turn } from "./turn/concern.ts";
import type { TurnEvent, TurnSignal } from "./turn/event.ts";
import type { TurnCommand, TurnRows } from "./turn/model.ts";
import { wait } from "./wait/concern.ts";
import type { WaitEvent, WaitRows, WaitSignal } from "./wait/model.ts";

export const concerns = [scope, catalog, about, request, link, call, wait, process, flow, run, schedule, turn] as const;

export type Event =
  | ScopeEvent
  | CatalogEvent
  | AboutEvent
  | RequestEvent
  | LinkEvent
  | HandleEvent
  | OutboxEvent
  | CallEvent
  | ApprovalEvent
  | EffectEvent
  | StreamEvent
  | WaitEvent
  | ProcessScopeEvent
  | FlowEvent
  | BackgroundEvent
  | ScheduleEvent
  | TurnEvent;

export type Signal =
  | AboutSignal
  | RequestSignal
  | LinkSignal
  | CallSignal
  | WaitSignal
  | ProcessSignal
  | FlowSignal
  | RunSignal
  | ScheduleSignal
  | TurnSignal;

export type Command =
  | RequestCommand
  | LinkCommand
  | CallCommand
  | ProcessCommand
  | FlowCommand
  | RunCommand
  | ScheduleCommand
  | TurnCommand;

export interface State
  extends
    Place,
    ScopeRows,
    CatalogRows,
    AboutRows,
    RequestRows,
    LinkRows,
    CallRows,
    WaitRows,
    ProcessRows,
    FlowRows,
    RunRows,
    ScheduleRows,
    TurnRows {}

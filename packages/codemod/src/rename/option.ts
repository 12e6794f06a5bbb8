/**
 * Options of scopes, triggers, and starts of processes: `options: { effects_ms }` → `options: { effectsMs }`. Events of a log keep
 * their names.
 */
import type { Node, ObjectExpression } from "oxc-parser";
import type { Renaming } from "../rewrite.ts";
import { type Source, bare, isInEvent, keyOf, renameInPattern } from "../source.ts";

const optionNames =
  "concurrency grace_ms max_unclaimed max_answers max_unanswered max_ended_handles resume_pauses_ms crash_pauses_ms max_crashes " +
  "effects_ms max_stream_chunks max_stream_bytes no_executor_ms divergence_ms expire_at_once max_flow_nodes max_flow_text " +
  "max_runs max_run_attempts max_output max_ended_tasks max_schedules min_interval_s resolver before_hook after_hook projection " +
  "probes max_waiting_turns stop_ms model_pauses_ms max_attempts backoff_ms max_backoff_ms max_retry_after_ms max_switches " +
  "max_frames keep_partial turn_limits turn_check model_resolver unpriced model_calls input_tokens output_tokens total_tokens wall_ms";
const options: ReadonlySet<string | undefined> = new Set(optionNames.split(" "));
const limits: ReadonlySet<string | undefined> = new Set(["cost", "limit", "then"]);

const triggerFields: ReadonlySet<string | undefined> = new Set([
  "source_type",
  "source_key",
  "payload",
  "idempotency_key",
  "source",
]);

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Renames all fields of an object, and of the objects in it. */
const renameAll = (source: Source, object: ObjectExpression): void => {
  for (const property of object.properties) {
    const name = keyOf(property);
    if (name?.includes("_") === true) source.renameProperty(object, name, camel(name));
    const value = property.type === "Property" ? bare(property.value) : undefined;
    if (value?.type === "ObjectExpression") renameAll(source, value);
  }
};

const namesIn = (object: ObjectExpression): readonly (string | undefined)[] =>
  object.properties.flatMap((property) => (property.type === "Property" ? [keyOf(property)] : []));

/** Says whether an object has names that the log has, and no others. */
const isMeant = (object: ObjectExpression, known: (name: string | undefined) => boolean): boolean => {
  const names = namesIn(object);
  return names.some((name) => name?.includes("_") === true) && names.every(known);
};

const isOption = (name: string | undefined): boolean => options.has(name) || limits.has(name);

/** Returns the objects that an expression may be. */
const objectsIn = (source: Source, expression: Node): readonly ObjectExpression[] => {
  const node = bare(expression);
  if (node.type === "ConditionalExpression")
    return [...objectsIn(source, node.consequent), ...objectsIn(source, node.alternate)];
  const object = source.objectIn(node);
  if (object === undefined) return [];
  const spread = object.properties.flatMap((property) =>
    property.type === "SpreadElement" ? objectsIn(source, property.argument) : [],
  );
  return [object, ...spread];
};

export const scopeOption: Renaming = {
  title: "options of scopes: `effects_ms` → `effectsMs`, and so on",
  apply: (source) => {
    const done = new Set<ObjectExpression>();
    for (const property of source.nodes("Property")) {
      if (keyOf(property) !== "options" || isInEvent(source, property)) continue;
      for (const object of objectsIn(source, property.value)) {
        if (done.has(object) || isInEvent(source, object) || !isMeant(object, isOption)) continue;
        done.add(object);
        renameAll(source, object);
      }
    }
  },
};

const answerFields = ["occurrence_id", "started_process_ids"];

/** Renames what is taken out of the answer to a trigger: `const { occurrence_id } = await ctx.triggers.emit(…)`. */
const renameAnswers = (source: Source): void => {
  for (const { id, init } of source.nodes("VariableDeclarator")) {
    const call = init?.type === "AwaitExpression" ? bare(init.argument) : undefined;
    if (id.type !== "ObjectPattern" || call?.type !== "CallExpression") continue;
    if (!/\btriggers\??\.emit$/.test(source.textOf(call.callee))) continue;
    for (const name of answerFields) renameInPattern(source, id, name, camel(name));
  }
};

export const trigger: Renaming = {
  title: "triggers: `emit({ source_type, … })` → `emit({ sourceType, … })`",
  apply: (source) => {
    renameAnswers(source);
    const done = new Set<ObjectExpression>();
    for (const { callee, arguments: given } of source.nodes("CallExpression")) {
      if (callee.type !== "MemberExpression" || callee.computed || source.textOf(callee.property) !== "emit") continue;
      for (const argument of given)
        for (const object of objectsIn(source, argument)) {
          if (done.has(object) || !isMeant(object, (name) => triggerFields.has(name))) continue;
          done.add(object);
          renameAll(source, object);
        }
    }
  },
};

const startFields: ReadonlySet<string | undefined> = new Set(["id", "input", "identity", "event_types", "env_ref"]);

export const processStart: Renaming = {
  title: "processes of a body: `start({ event_types })` → `start({ eventTypes })`",
  apply: (source) => {
    for (const { callee, arguments: given } of source.nodes("CallExpression")) {
      if (!/\bprocesses\??\.start$/.test(source.textOf(callee))) continue;
      for (const argument of given)
        for (const object of objectsIn(source, argument)) {
          if (!isMeant(object, (name) => startFields.has(name))) continue;
          for (const name of ["event_types", "env_ref"]) source.renameProperty(object, name, camel(name));
        }
    }
  },
};

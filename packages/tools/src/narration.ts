/** Narration: one line that tells a person what a call is doing or has done, in English or Ukrainian. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { codePoints, cutTo } from "@pawl/sansio-core/driver";
import type { ToolHints } from "@pawl/runtime";
import { type Forms, type Words, wordsOf } from "./narration-words.ts";

export type Phase = "started" | "waiting" | "completed" | "failed";

export interface Narrated {
  readonly tool: string;
  readonly displayName?: string;
  readonly args: JsonObject;
  readonly hints?: ToolHints;
}

const formOf = (forms: Forms, phase: Phase): string =>
  phase === "completed" ? forms.completed : phase === "failed" ? forms.failed : forms.started;

/** Cuts a text to a number of code points; three dots mark the cut. */
const shortened = (text: string, length: number): string =>
  codePoints(text) <= length ? text : `${cutTo(text, length)}...`;

/** Returns the text of the first of these arguments that is given. A blank one hides the ones after it. */
const firstPresent = (args: JsonObject, keys: readonly string[]): string | undefined => {
  const key = keys.find((one) => Object.hasOwn(args, one));
  const value = key === undefined ? undefined : args[key];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
};

const secret = /token|api_key|apikey|password|secret|authorization/i;

/** Returns the first of these arguments, and skips those whose names suggest a secret. */
export const safeArgument = (args: JsonObject, keys: readonly string[]): string | undefined =>
  firstPresent(
    args,
    keys.filter((key) => !secret.test(key)),
  );

const baseName = (path: string): string => path.replace(/\/+$/, "").split("/").at(-1) || path;

/** Returns the host and path of a URL, without user, password and query. */
export const shownUrl = (url: string): string => {
  const bare = url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/[?#].*$/s, "");
  const slash = bare.indexOf("/");
  const host = slash === -1 ? bare : bare.slice(0, slash);
  const path = slash === -1 ? "" : bare.slice(slash);
  return shortened(host.slice(host.lastIndexOf("@") + 1) + path, 48);
};

const titleOf = (name: string): string =>
  name
    .split(/[_ ]+/)
    .filter((part) => part !== "")
    .map((part) => part.replace(/^./u, (first) => first.toUpperCase()))
    .join(" ");

const withNoun = (words: Words, noun: string, args: JsonObject, phase: Phase): string | undefined => {
  const verb = firstPresent(args, ["operation", "action"]);
  if (verb === undefined) return undefined;
  const forms = (Object.hasOwn(words.verbs, verb) ? words.verbs[verb] : undefined) ?? words.run;
  const name = firstPresent(args, ["display_name", "name", "title", "new_name"]);
  return `${formOf(forms, phase)} ${noun}${name === undefined ? "" : `: ${shortened(name, 40)}`}`;
};

const generic = (words: Words, { tool, displayName, args, hints }: Narrated, phase: Phase): string => {
  const noun = hints?.narration_noun;
  const line = noun === undefined || noun === "" ? undefined : withNoun(words, noun, args, phase);
  return line ?? `${formOf(words.run, phase)} ${displayName ?? titleOf(tool)}`;
};

type Narrator = (words: Words, args: JsonObject, phase: Phase) => string;

const withPath =
  (verb: keyof Words["file"]): Narrator =>
  (words, args, phase) => {
    const form = formOf(words.file[verb], phase);
    const path = safeArgument(args, ["path"]);
    return path === undefined ? form : `${form} ${baseName(path)}`;
  };

const isHere = (path: string | undefined): boolean => path === undefined || path === "." || path === "/workspace";

const narrators: { readonly [tool: string]: Narrator } = {
  read_file: withPath("read"),
  write_file: withPath("write"),
  edit_file: withPath("edit"),
  delete_file: withPath("delete"),
  stat_file: withPath("stat"),
  list_directory: (words, args, phase) => {
    const path = safeArgument(args, ["path"]);
    return `${formOf(words.list, phase)} ${isHere(path) ? words.here : path}`;
  },
  grep_files: (words, args, phase) => {
    const pattern = safeArgument(args, ["pattern"]);
    const form = formOf(words.grep, phase);
    return pattern === undefined ? form : `${form} ${words.for} ${shortened(pattern, 36)}`;
  },
  write_todos: (words, _args, phase) => formOf(words.todos, phase),
  web_fetch: (words, args, phase) => {
    const url = safeArgument(args, ["url"]);
    const form = formOf(words.fetch, phase);
    return url === undefined ? form : `${form}: ${shownUrl(url)}`;
  },
  bash: (words, args, phase) => {
    const command = safeArgument(args, ["command", "commands", "cmd"]);
    const form = formOf(words.run, phase);
    return command === undefined ? form : `${form} \`${shortened(command, 48)}\``;
  },
};

/** Returns the line of a call: the model's stated intent, else the tool's own line, else a generic one. */
export const narrate = (call: Narrated, phase: Phase, locale?: string): string => {
  const intent: Json | undefined = call.args["human_intent"];
  if (typeof intent === "string" && intent.trim() !== "") return intent.trim();
  const words = wordsOf(locale);
  const narrator = Object.hasOwn(narrators, call.tool) ? narrators[call.tool] : undefined;
  return narrator === undefined ? generic(words, call, phase) : narrator(words, call.args, phase);
};

/** Joins several lines into one; undefined if there are none. */
export const headline = (lines: readonly string[], locale?: string): string | undefined => {
  const words = wordsOf(locale);
  const [first, second, ...rest] = lines;
  if (first === undefined || second === undefined) return first;
  if (rest.length === 0) return `${first} ${words.and} ${second}`;
  return `${first}, ${second}${words.comma} ${words.and} ${words.more(rest.length)}`;
};

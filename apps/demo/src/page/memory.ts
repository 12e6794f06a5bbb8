/** What the page remembers of itself over a reload. */
import { type Codec, parse, read, stringify, type Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { type Endpoint, EndpointCodec } from "../agent/endpoint.ts";

const at = (name: string): string => `pawl-demo-${name}`;

const recall = <A>(codec: Codec<A>, name: string): A | undefined => {
  const text = localStorage.getItem(at(name));
  if (text === null) return undefined;
  const value = pipe(
    parse(text),
    E.chain((json) => read(codec, json)),
  );
  return E.isRight(value) ? value.right : undefined;
};

/** Which session of a scene is the one on the page. */
export const sessionOf = (scene: string): string => `${scene}-${localStorage.getItem(at(`run-${scene}`)) ?? "1"}`;

/** A name that no other browser has, for as long as this one keeps what it stores. */
export const ownStore = (): string => {
  const known = localStorage.getItem(at("browser")) ?? crypto.randomUUID().slice(0, 8);
  localStorage.setItem(at("browser"), known);
  return known;
};

/** Which session of a scene is the one on the page, in such a name: it may go where others are. */
export const ownSession = (scene: string): string => `${sessionOf(scene)}-${ownStore()}`;

export const beginAnew = (scene: string): void => {
  const run = Number(localStorage.getItem(at(`run-${scene}`)) ?? 1);
  localStorage.setItem(at(`run-${scene}`), String(run + 1));
};

export const endpoint = (): Endpoint | undefined => recall(EndpointCodec, "endpoint");

/** A key stays in this browser, and goes to the endpoint alone. */
export const rememberEndpoint = (of: Endpoint | undefined): void => {
  if (of === undefined) localStorage.removeItem(at("endpoint"));
  else localStorage.setItem(at("endpoint"), stringify(EndpointCodec.encode(of) as Json));
};

export type Theme = "light" | "dark";
export const theme = (): Theme | undefined => {
  const kept = localStorage.getItem(at("theme"));
  return kept === "light" || kept === "dark" ? kept : undefined;
};
export const rememberTheme = (of: Theme): void => localStorage.setItem(at("theme"), of);

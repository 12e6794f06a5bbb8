/** The page's settings in `localStorage`, which survive a reload. */
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

/** Returns the current session of a scene. */
export const sessionOf = (scene: string): string => `${scene}-${localStorage.getItem(at(`run-${scene}`)) ?? "1"}`;

/** Returns a name that is unique to this browser, and lasts as long as its storage. */
export const ownStore = (): string => {
  const known = localStorage.getItem(at("browser")) ?? crypto.randomUUID().slice(0, 8);
  localStorage.setItem(at("browser"), known);
  return known;
};

/** Returns the current session of a scene under a unique name: it may move to a host that others use. */
export const ownSession = (scene: string): string => `${sessionOf(scene)}-${ownStore()}`;

export const beginAnew = (scene: string): void => {
  const run = Number(localStorage.getItem(at(`run-${scene}`)) ?? 1);
  localStorage.setItem(at(`run-${scene}`), String(run + 1));
};

export const endpoint = (): Endpoint | undefined => recall(EndpointCodec, "endpoint");

/** Stores the endpoint. Its key stays in this browser, and is sent to the endpoint alone. */
export const rememberEndpoint = (of: Endpoint | undefined): void => {
  if (of === undefined) localStorage.removeItem(at("endpoint"));
  else localStorage.setItem(at("endpoint"), stringify(EndpointCodec.encode(of) as Json));
};

export type Theme = "light" | "dark";
export const theme = (): Theme | undefined => {
  const stored = localStorage.getItem(at("theme"));
  return stored === "light" || stored === "dark" ? stored : undefined;
};
export const rememberTheme = (of: Theme): void => localStorage.setItem(at("theme"), of);

/**
 * Secrets of a scope: hosts keep them by `session.secrets`, and steps read them by name. What seals and opens them is in
 * sealed-secret.ts, which is loaded when the first secret is used.
 */
import type { State } from "@pawl/sansio-core";
import { missingRule } from "@pawl/sansio-core/driver";
import { Refused } from "../error.ts";
import { sessionOf } from "./host.ts";
import { type Access, record } from "../scope/access.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import { type Roots, type ScopeSecret, keyUnder, secretsOf } from "../scope/wait-token.ts";

/** A secret as it may be shown. */
export interface SecretEntry {
  readonly name: string;
  /** Changes with the value, and says nothing of it. */
  readonly digest: string;
}

export interface SessionSecrets {
  /** Seals a value and keeps it under a name; undefined removes it. */
  set(name: string, value: string | undefined): Promise<void>;
  /** Opens a value for this program; undefined where there is none. No wire and no model has this. */
  get(name: string): Promise<string | undefined>;
  /** Lists the names. */
  list(): Promise<readonly SecretEntry[]>;
}

export type ScopeSecrets = () => Promise<readonly ScopeSecret[]>;

/** Lists what keys of a scope are derived from, the newest first: this store's, then those of stores where it lived before. */
export const secretsAt =
  ({ roots }: { readonly roots: Roots }, { scope, secrets }: Pick<ScopeStore, "scope" | "secrets">): ScopeSecrets =>
  async () => [...secretsOf(roots, scope), ...(await secrets())];

const keyTo = (use: "seal" | "digest", own: ScopeSecret): Uint8Array<ArrayBuffer> =>
  keyUnder(own, `pawl secrets: ${use}`);

/** Opens a secret of a scope; undefined where it has none of this name. */
export const secretIn = async (
  { about, scope }: State,
  secrets: ScopeSecrets,
  name: string,
): Promise<string | undefined> => {
  const [kid, sealed = ""] = String(about.secrets.get(name)?.sealed ?? "").split(" ");
  if (kid === "") return undefined;
  const { openSecret } = await import("./sealed-secret.ts");
  for (const own of await secrets()) {
    const value = own.kid === kid ? await openSecret(keyTo("seal", own), name, sealed) : undefined;
    if (value !== undefined) return value;
  }
  const message = `secret \`${name}\` of ${scope.id} was sealed under a root that is not here: set it again`;
  throw new Refused("secret_closed", message);
};

/** Opens a secret for a body; where its process has none of this name, that of the session which started the process. */
export const secretFor = async (
  state: State,
  secrets: ScopeSecrets,
  name: string,
  open: (scope: string) => Promise<{ readonly secrets: SessionSecrets }>,
): Promise<string | undefined> => {
  const own = await secretIn(state, secrets, name);
  if (own !== undefined || state.process?.registration.provenance.originator.type !== "session") return own;
  return (await open(`session:${sessionOf(state)}`)).secrets.get(name);
};

/** Keeps a secret of a scope under the newest of its keys. */
const keepSecret = async (access: Access, secrets: ScopeSecrets, name: string, value?: string): Promise<void> => {
  const { about, scope } = access.runner.state;
  const { problemOfSecret, sealSecret, digestOfSecret } = await import("./sealed-secret.ts");
  const problem =
    missingRule(scope.protocol, "about", "the secrets of a session") ?? problemOfSecret(about.secrets, name, value);
  if (problem !== undefined) throw new Refused(problem.code, problem.message);
  const [own] = await secrets();
  if (value === undefined || own === undefined) return record(access, { type: "secret.kept", name });
  const digest = await digestOfSecret(keyTo("digest", own), name, value);
  const sealed = `${own.kid} ${await sealSecret(keyTo("seal", own), name, value)}`;
  return record(access, { type: "secret.kept", name, digest, sealed });
};

/** Makes the secrets of a scope, for its host. */
export const secretsOver = (
  within: <A>(act: (access: Access, secrets: ScopeSecrets) => Promise<A>) => Promise<A>,
): SessionSecrets => ({
  set: (name, value) => within((access, secrets) => keepSecret(access, secrets, name, value)),
  get: (name) =>
    within(async ({ runner }, secrets) => {
      const { state } = runner;
      await runner.whenDurable();
      return secretIn(state, secrets, name);
    }),
  list: () =>
    within(async ({ runner }) => {
      const { secrets } = runner.state.about;
      await runner.whenDurable();
      const entries = [...secrets].map(([name, { digest }]) => ({ name, digest }));
      return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    }),
});

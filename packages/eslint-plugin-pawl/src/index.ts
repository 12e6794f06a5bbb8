/** `eslint-plugin-pawl`: rules for the bodies of durable tools. ESLint and oxlint load the same file. */
import { noActOutsideStep } from "./rule/no-act-outside-step.ts";
import { noEmptyCatch } from "./rule/no-empty-catch.ts";
import { noFloatingEffect } from "./rule/no-floating-effect.ts";
import { noForeignAwait } from "./rule/no-foreign-await.ts";
import { noUnrecordedValue } from "./rule/no-unrecorded-value.ts";
import { stableStepName } from "./rule/stable-step-name.ts";

const rules = {
  "no-unrecorded-value": noUnrecordedValue,
  "no-act-outside-step": noActOutsideStep,
  "no-foreign-await": noForeignAwait,
  "stable-step-name": stableStepName,
  "no-floating-effect": noFloatingEffect,
  "no-empty-catch": noEmptyCatch,
};

/** The plugin, as the linters take it. It is typed here, since oxlint comes without ESLint's types. */
export interface PawlPlugin {
  readonly meta: { readonly name: string; readonly version: string };
  readonly rules: { readonly [rule: string]: object };
  readonly configs: {
    /** All rules as errors, for the configuration of ESLint. */
    readonly recommended: {
      readonly name: string;
      readonly plugins: { readonly pawl: object };
      readonly rules: { readonly [rule: string]: "error" };
    };
  };
}

const own = { meta: { name: "eslint-plugin-pawl", version: "0.1.0" }, rules };
const errors = Object.fromEntries(Object.keys(rules).map((name) => [`pawl/${name}`, "error" as const]));
const plugin: PawlPlugin = {
  ...own,
  configs: { recommended: { name: "pawl/recommended", plugins: { pawl: own }, rules: errors } },
};

export default plugin;

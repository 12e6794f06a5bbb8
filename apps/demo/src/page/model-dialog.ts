/** The dialog that chooses the agents' model: the script of the demo, or the user's own endpoint. */
import { button, el } from "@pawl/inspector/dom";
import type { Endpoint } from "../agent/endpoint.ts";
import { endpoint, rememberEndpoint } from "./memory.ts";

export const modelDialog = (changed: () => void): HTMLDialogElement => {
  const stored = endpoint();
  const url = el("input", {
    name: "url",
    type: "url",
    placeholder: "http://localhost:11434/v1",
    value: stored?.url ?? "",
    required: true,
  });
  const model = el("input", { name: "model", value: stored?.model ?? "", required: true });
  const key = el("input", { name: "key", type: "password", autocomplete: "off", value: stored?.key ?? "" });
  const save = (chosen: Endpoint | undefined): void => {
    rememberEndpoint(chosen);
    dialog.close();
    changed();
  };
  const saveEndpoint = (): void => {
    if (url.reportValidity() && model.reportValidity()) save({ url: url.value, model: model.value, key: key.value });
  };
  const dialog = el(
    "dialog",
    { "aria-labelledby": "model-title" },
    el("h2", { id: "model-title" }, "The agent's model"),
    el(
      "p",
      {},
      "The demo ships with a script. An OpenAI-compatible endpoint can replace it. What you enter stays in this browser.",
    ),
    el("label", {}, el("span", {}, "Endpoint"), url),
    el("label", {}, el("span", {}, "Model"), model),
    el("label", {}, el("span", {}, "Key"), key),
    el(
      "div",
      { class: "actions" },
      button("Use the endpoint", { class: "primary" }, saveEndpoint),
      button("Use the script", {}, () => save(undefined)),
      button("Cancel", { class: "quiet" }, () => dialog.close()),
    ),
  );
  return dialog;
};

/** Which model the agents ask: the script that ships with the demo, or an endpoint of one's own. */
import { button, el } from "@pawl/inspector/dom";
import type { Endpoint } from "../agent/endpoint.ts";
import { endpoint, rememberEndpoint } from "./memory.ts";

export const modelDialog = (changed: () => void): HTMLDialogElement => {
  const kept = endpoint();
  const url = el("input", {
    name: "url",
    type: "url",
    placeholder: "http://localhost:11434/v1",
    value: kept?.url ?? "",
    required: true,
  });
  const model = el("input", { name: "model", value: kept?.model ?? "", required: true });
  const key = el("input", { name: "key", type: "password", autocomplete: "off", value: kept?.key ?? "" });
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
      "A script ships with the demo. An endpoint that speaks as OpenAI's does can take its place; what you enter stays in this browser.",
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

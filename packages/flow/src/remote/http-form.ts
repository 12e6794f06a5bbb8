/** What the http provider sends, and what it makes of what comes back. */
import { isHttp, timeoutMs } from "../tool/endpoint.ts";
import { type Answer, failed, succeeded } from "../tool/result.ts";

/** Bytes of an error's body that are shown. */
const shownBytes = 200;

/** An argument that looks like JSON goes as it is; any other text is an input. */
export const httpBody = (argument: string): string =>
  /^\s*[[{]/.test(argument) ? argument : JSON.stringify({ input: argument });

/** Why a declared address can not be asked, if it can't. */
export const httpMisfit = (tool: string, runtime: string): Answer | undefined => {
  const url = runtime.trim();
  if (url === "") {
    return failed(`HTTP tool '${tool}': no endpoint URL. Set runtime: "https://..." in tool definition.`);
  }
  if (isHttp(url)) return undefined;
  return failed(`HTTP tool '${tool}': invalid URL '${url}'. Must start with http:// or https://.`);
};

/** The first bytes of a text, up to the last whole character among them. */
const clipped = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= shownBytes) return text;
  let end = shownBytes;
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return `${new TextDecoder().decode(bytes.subarray(0, end))}...`;
};

export const httpAnswer = (status: number, body: string): Answer =>
  status >= 200 && status <= 299 ? succeeded(body) : failed(`HTTP ${status}: ${clipped(body)}`);

/** Why there is no answer. */
export type TransportFailure =
  | { readonly type: "timeout" }
  | { readonly type: "connect" }
  | { readonly type: "request"; readonly detail: string }
  | { readonly type: "body"; readonly detail: string };

export const httpFailure = (
  { name, runtime, timeout }: { readonly name: string; readonly runtime: string; readonly timeout: string },
  failure: TransportFailure,
): Answer => {
  const said = (text: string): Answer => failed(`HTTP tool '${name}': ${text}`);
  switch (failure.type) {
    case "timeout":
      return said(`request timed out after ${Math.floor(timeoutMs(timeout) / 1000)}s`);
    case "connect":
      return said(`connection failed to ${runtime.trim()}`);
    case "request":
      return said(`request failed: ${failure.detail}`);
    case "body":
      return said(`failed to read response body: ${failure.detail}`);
  }
};

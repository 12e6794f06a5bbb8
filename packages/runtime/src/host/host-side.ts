/**
 * The host's side of a runtime: what the program around it has given it. Built once, the same for all scopes.
 *
 * The core never calls any of this. It emits a command (`tool.prepare`, `hook.run`, `host.request`, ...), the session
 * asks the host's side, and the answer comes back as an event. So everything here may be slow, fail, or be called again
 * after a crash: an answer counts from the moment that its event is in the log, and a question whose answer is not in
 * the log is asked again by the next owner of the scope.
 *
 * `tool` is read anew for every call. A tool may come, change and go while scopes are open; a call keeps the manifest
 * with which it was launched, and runs with the function that its id names when it starts.
 */
import type { HostPort } from "./host-request.ts";
import type { AttachmentStore } from "../journal/attachment.ts";
import type { BackgroundOptions } from "../process/host.ts";
import type { Roots } from "../scope/token.ts";
import type { LiveTool } from "../tool/live-tool.ts";

export interface HostSide {
  /** Functions and plugins that the host has filled in. */
  readonly host: HostPort;
  /** Returns the tool that has this id now. */
  readonly tool: (id: string) => LiveTool | undefined;
  readonly attachments: AttachmentStore;
  /** How background runs are run here. */
  readonly background: BackgroundOptions;
  /** Roots of the secrets under which wait keys are signed for the outside. */
  readonly roots: Roots;
}

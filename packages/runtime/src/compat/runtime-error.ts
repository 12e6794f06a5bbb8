/** An error as the reference writes it: a stable code, and a text for people. Unknown codes pass through. */
import { type Codec, record, string } from "@pawl/tool-value";

export interface RuntimeError {
  readonly code: string;
  readonly message: string;
}
export const RuntimeError: Codec<RuntimeError> = record<RuntimeError>("struct RuntimeError", {
  code: string,
  message: string,
});

/** Why an effect has no outcome: a runtime error under another name. */
export type RuntimeEffectControllerError = RuntimeError;
export const RuntimeEffectControllerError: Codec<RuntimeEffectControllerError> = RuntimeError;

/** An error in one line, as it stands in messages. */
export const errorLine = ({ code, message }: RuntimeError): string => `${code}: ${message}`;

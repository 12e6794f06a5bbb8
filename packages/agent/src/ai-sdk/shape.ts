/**
 * The models of the AI SDK, as far as they are used here: `LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider` are of this
 * shape. It is written out, so that a program brings the version that it has, and none is installed with pawl.
 */

type Maybe<A> = A | PromiseLike<A>;

export interface Stream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** A language model of a provider package. */
export interface AiSdkModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Maybe<Record<string, RegExp[]>>;
  doStream(options: never): PromiseLike<{ readonly stream: Stream }>;
  doGenerate(options: never): PromiseLike<object>;
}

/** The fields of an object of the SDK. */
export type Fields = { readonly [field: string]: unknown };

export const fieldsOf = (u: unknown): Fields => (typeof u === "object" && u !== null ? (u as Fields) : {});
export const textIn = (u: unknown): string | undefined => (typeof u === "string" ? u : undefined);
export const numberIn = (u: unknown): number | undefined =>
  typeof u === "number" && Number.isSafeInteger(u) && u >= 0 ? u : undefined;

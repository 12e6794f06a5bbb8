/** The model: an endpoint that speaks as OpenAI's does, or a script without a key. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, OPENAI_MODEL: name = "gpt-5" } = process.env;

const words = "I am a script. Set OPENAI_BASE_URL and OPENAI_MODEL, and a model answers.".split(/(?<= )/);

const scripted = new MockLanguageModelV4({
  doStream: async () => ({
    stream: simulateReadableStream({
      chunkDelayInMs: 50,
      chunks: [
        { type: "text-start", id: "1" },
        ...words.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
        { type: "text-end", id: "1" },
        {
          type: "finish",
          finishReason: { unified: "stop", raw: "stop" },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: words.length, text: words.length, reasoning: 0 },
          },
        },
      ],
    }),
  }),
});

export const model =
  baseURL === undefined
    ? scripted
    : createOpenAICompatible({ name: "openai", baseURL, ...(apiKey === undefined ? {} : { apiKey }) })(name);

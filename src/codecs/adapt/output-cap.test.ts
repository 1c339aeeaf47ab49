import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translation as anthropicMessages } from '../anthropic-messages/translation.ts';
import { translation as gemini } from '../gemini/translation.ts';
import { translation as ollama } from '../ollama/translation.ts';
import { translation as openaiChat } from '../openai-chat/translation.ts';
import { translation as openaiResponses } from '../openai-responses/translation.ts';
import { outputCapOf, reportedOutputCap, withOutputCap } from './output-cap.ts';

/** What vendors say of a bound of 32000, from their issues and documents. */
const messages: readonly (readonly [string, number | null, boolean?])[] = [
  [
    'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
    16_384,
    true,
  ],
  ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8192, true],
  ['<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]', 8192, true],
  ['max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000', 8000, true],
  [
    '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    8192,
    true,
  ],
  [
    'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022',
    8192,
    true,
  ],
  [
    'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
    4096,
    true,
  ],
  [
    'The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.',
    12_288,
    true,
  ],
  [
    'Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.',
    8192,
    true,
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000).",
    31_768,
    false,
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 33000 tokens (1000 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
    7192,
    false,
  ],
  [
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (8000 of text input, 32000 in the output).",
    24_768,
    false,
  ],
  [
    '`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 193 `inputs` tokens and 32000 `max_new_tokens`',
    8000,
    false,
  ],
  // About something else, or of no help.
  ['prompt is too long: 210000 tokens > 200000 maximum', null],
  [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    null,
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 41000 tokens (9000 in the messages, 32000 in the completion).",
    null,
  ],
  ['temperature must be less than or equal to 1', null],
  ['max_tokens must be less than or equal to 64000', null],
  ['max_tokens must be less than or equal to 0', null],
  ['max_tokens must be at least 1', null],
  ['', null],
];

describe('the output limit of a model', () => {
  for (const [message, outputCap, lasting] of messages)
    it(`is ${outputCap ?? 'not'} read from: ${message.slice(0, 60)}`, () => {
      assert.deepEqual(
        reportedOutputCap(message, 32_000),
        outputCap === null ? null : { outputCap, lasting },
      );
    });

  it('is written where each format has it, and nothing else is changed', () => {
    const cases = [
      [openaiChat, { a: 1, max_tokens: 9, z: 2 }, { a: 1, max_tokens: 5, z: 2 }, 'max_tokens'],
      [openaiChat, { max_completion_tokens: 9 }, { max_completion_tokens: 5 }, 'max_completion_tokens'],
      [openaiResponses, { max_output_tokens: 9 }, { max_output_tokens: 5 }, 'max_output_tokens'],
      [
        gemini,
        { generationConfig: { topK: 1, maxOutputTokens: 9 } },
        { generationConfig: { topK: 1, maxOutputTokens: 5 } },
        'maxOutputTokens',
      ],
      [ollama, { options: { num_predict: 9 } }, { options: { num_predict: 5 } }, 'num_predict'],
    ] as const;
    for (const [format, request, lowered, name] of cases) {
      assert.deepEqual(withOutputCap(format, request, 5), lowered);
      assert.deepEqual(withOutputCap(format, request, 9), request);
      assert.deepEqual(outputCapOf(format, request), { name, cap: 9 });
      assert.equal(outputCapOf(format, {}), null);
      assert.deepEqual(withOutputCap(format, {}, 5), {});
    }
  });

  it('leaves room for an answer beside a thinking budget', () => {
    const ask = (budget_tokens: number) => ({
      max_tokens: 50_000,
      thinking: { type: 'enabled', budget_tokens, display: 'omitted' },
    });
    const lowered = (budget: number, outputCap: number) =>
      withOutputCap(anthropicMessages, ask(budget), outputCap);
    assert.deepEqual(lowered(31_999, 32_000), { ...ask(31_999), max_tokens: 32_000 });
    assert.deepEqual(lowered(40_000, 32_000), { ...ask(30_976), max_tokens: 32_000 });
    assert.deepEqual(lowered(40_000, 1500), { ...ask(1024), max_tokens: 1500 });
    assert.deepEqual(lowered(40_000, 1000), { max_tokens: 1000 });
  });
});

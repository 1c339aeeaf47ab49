import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { requestedAnswers } from './requested-answers.ts';

const answersOf = (format: WireFormat, body: unknown) =>
  requestedAnswers(format, [Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]);

describe('the number of answers that a request asks for', () => {
  it('is one by default', () => {
    for (const format of ['openai-chat', 'openai-completions', 'gemini', 'openai-responses'] as const)
      assert.equal(answersOf(format, { model: 'm', messages: [{ content: '"n": 9' }] }), 1);
    assert.equal(requestedAnswers('openai-chat', []), 1);
  });

  it('is n, for chat and images', () => {
    assert.equal(answersOf('openai-chat', { messages: [], n: 4 }), 4);
    assert.equal(answersOf('openai-chat', { messages: [], n: null }), 1);
    assert.equal(answersOf('openai-chat', '{ "n" : 2, "n":7}'), 7, 'an upstream may take any of several');
    assert.equal(answersOf('openai-images', { prompt: ['a'], n: 3 }), 3);
    assert.equal(answersOf('anthropic-messages', { n: 3 }), 1, 'means nothing there');
  });

  it('is not affected by a property n of tools and schemas', () => {
    const parameters = { type: 'object', properties: { n: { default: 5 } }, examples: [{ n: 50 }] };
    assert.equal(answersOf('openai-chat', { tools: [{ function: { name: 'f', parameters } }], n: 2 }), 2);
  });

  it('follows best_of and several prompts, for the older completions', () => {
    assert.equal(answersOf('openai-completions', { prompt: 'a', n: 2, best_of: 5 }), 5);
    assert.equal(answersOf('openai-completions', { prompt: ['a', 'b, "c"', 'd'], n: 2 }), 6);
    assert.equal(answersOf('openai-completions', { prompt: [1, 2, 3] }), 1, 'the tokens of one prompt');
    assert.equal(
      answersOf('openai-completions', {
        prompt: [
          [1, 2],
          [3, 4],
        ],
      }),
      2,
    );
    assert.equal(answersOf('openai-completions', { prompt: [] }), 1);
  });

  it('is the number of candidates, for Gemini', () => {
    assert.equal(answersOf('gemini', { contents: [], generationConfig: { candidateCount: 8 } }), 8);
    assert.equal(answersOf('gemini', { contents: [], generation_config: { candidate_count: 3 } }), 3);
  });

  it('is found in a body of several pieces', () => {
    const pieces = ['{"messages":[],', '"n":', '3}'].map((text) => Buffer.from(text));
    assert.equal(requestedAnswers('openai-chat', pieces), 3);
  });
});

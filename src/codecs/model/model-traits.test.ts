import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adapt } from '../adapt/adapt.ts';
import { anthropicMessages } from '../anthropic-messages/codec.ts';
import { traitsOf } from '../anthropic-messages/request/models.ts';
import { objectOf } from '../json/values.ts';
import { openaiChat } from '../openai-chat/codec.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { type Conversation, emptyConversation, type Reasoning } from './conversation.ts';
import { plainDialect } from './dialect.ts';

/** The request that a chat client's wish becomes for a model of Anthropic's, and what it is not told. */
function toAnthropic(model: string, wish: Partial<Conversation>) {
  const [from, to] = [openaiChat, anthropicMessages];
  assert.ok(from.conversation !== null && to.conversation !== null);
  const { conversation, dropped } = adapt(
    { ...emptyConversation('m'), ...wish },
    {
      dialect: plainDialect,
      owner: null,
      model,
      from: { ...from, conversation: from.conversation },
      to: { ...to, conversation: to.conversation },
    },
  );
  const body = to.conversation.encodeRequest({ ...conversation, model }, plainDialect);
  return { thinking: body['thinking'], effort: objectOf(body['output_config'])['effort'], body, dropped };
}

const reasoning = (wish: Partial<Reasoning>): Partial<Conversation> => ({
  reasoning: { mode: 'on', effort: null, budgetTokens: null, display: null, ...wish },
});

describe('the traits of a Claude model', () => {
  it('follow from the version in its name, wherever that stands', () => {
    const rows: [string, string][] = [
      ['claude-3-5-haiku-20241022', 'none'],
      ['claude-3-opus-20240229', 'none'],
      ['claude-3-7-sonnet-20250219', 'budget'],
      ['claude-sonnet-4-20250514', 'budget'],
      ['anthropic/claude-sonnet-4.5', 'budget'],
      ['claude-haiku-4-5-20251001', 'budget'],
      ['us.anthropic.claude-opus-4-6-v1:0', 'either'],
      ['claude-sonnet-4-6', 'either'],
      ['claude-opus-4-7', 'adaptive'],
      ['claude-sonnet-5', 'adaptive'],
      ['claude-fable-5-1', 'adaptive'],
      ['claude-opus-10', 'adaptive'],
      ['kimi-k3', 'either'],
    ];
    for (const [model, thinking] of rows) assert.equal(traitsOf(model).thinking, thinking, model);
  });

  it('convert an effort to a budget, or a budget to an effort, if the model supports only one', () => {
    const older = toAnthropic('claude-sonnet-4-5', reasoning({ effort: 'high' }));
    assert.deepEqual(older.thinking, { type: 'enabled', budget_tokens: 16_384 });
    assert.equal(older.effort, undefined);
    const newer = toAnthropic('claude-opus-4-7', reasoning({ budgetTokens: 2_000 }));
    assert.deepEqual([newer.thinking, newer.effort], [{ type: 'adaptive' }, 'low']);
    const either = toAnthropic('claude-opus-4-6', reasoning({ budgetTokens: 2_000 }));
    assert.deepEqual(either.thinking, { type: 'enabled', budget_tokens: 2_000 });
  });

  it('include the next lower effort for one that the model lacks', () => {
    assert.equal(toAnthropic('claude-opus-4-6', reasoning({ effort: 'xhigh' })).effort, 'high');
    assert.equal(toAnthropic('claude-opus-4-5', reasoning({ effort: 'max' })).effort, 'high');
    assert.equal(toAnthropic('claude-opus-4-7', reasoning({ effort: 'xhigh' })).effort, 'xhigh');
  });

  it('exclude thinking and tool choices that the model would refuse, and report what is left out', () => {
    const old = toAnthropic('claude-3-5-haiku-20241022', reasoning({ effort: 'high' }));
    assert.deepEqual([old.thinking, old.dropped], [undefined, ['reasoning_effort']]);
    const recent = toAnthropic('claude-opus-4-7', { temperature: 0.2, topP: 0.5 });
    assert.deepEqual(recent.dropped, ['temperature', 'top_p']);
    assert.equal('temperature' in recent.body || 'top_p' in recent.body, false);
    assert.deepEqual(toAnthropic('claude-opus-4-7', reasoning({ mode: 'off' })).thinking, undefined);
    assert.deepEqual(toAnthropic('claude-opus-4-6', reasoning({ mode: 'off' })).thinking, {
      type: 'disabled',
    });
  });
});

describe('the traits of an OpenAI model', () => {
  it('exclude sampling if it reasons, and effort if it does not', () => {
    for (const model of ['gpt-5', 'gpt-5.4-mini', 'openai/gpt-6.1-codex', 'o3', 'o4-mini', 'gpt-10'])
      assert.ok(unsupportedBy(model).includes('temperature'), model);
    for (const model of ['gpt-4o', 'gpt-4.1-nano', 'gpt-3.5-turbo', 'chatgpt-4o-latest', 'gpt-5-chat-latest'])
      assert.ok(unsupportedBy(model).includes('reasoning'), model);
    for (const model of ['gpt-oss-120b', 'llama-3.3-70b', 'mistral-large', 'my-o1-like'])
      assert.deepEqual(unsupportedBy(model), [], model);
  });
});

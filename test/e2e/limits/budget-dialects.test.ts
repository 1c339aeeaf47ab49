import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { chat } from '../../support/formats/formats.ts';
import { bearer, settledRows, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

describe('an exhausted budget in USD', () => {
  const at = setting({ config: { prices: { '*/m-1': { input: 10, output: 10 } } } });
  const hi = [{ role: 'user' as const, content: 'hi' }];
  /** A key whose budget one answer has used up. */
  const spent = async (name: string) => {
    const flags = ['--budget-usd', '0.01', '--budget-period', 'day'];
    const key = String((await at.gateway.cliJson('keys', 'add', name, ...flags))['key']);
    const usage = { prompt_tokens: 10, completion_tokens: 990_000, total_tokens: 990_010 };
    at.upstream.always(json(200, { ...chat.answer(), usage }));
    const ask = () => at.gateway.ask(chat.path, chat.request({ max_tokens: 5 }), bearer(key));
    await waitFor('the budget to be spent', async () => (await ask()).status === 402);
    at.upstream.always(json(200, chat.answer()));
    return key;
  };

  it('is reported in every dialect as an error that must not be retried', async () => {
    const key = await spent('spender');
    const gemini = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
    for (const [path, body, code] of [
      ['/v1/chat/completions', { model: 'up/m-1', messages: hi }, 'insufficient_quota'],
      ['/v1/responses', { model: 'up/m-1', input: 'hi' }, 'insufficient_quota'],
      ['/v1/messages', { model: 'up/m-1', max_tokens: 9, messages: hi }, 'billing_error'],
      ['/v1beta/models/up/m-1:generateContent', gemini, 'RESOURCE_EXHAUSTED'],
    ] as const) {
      const reply = await at.gateway.ask(path, body, bearer(key));
      assert.equal(reply.status, 402, reply.text);
      assert.equal(reply.header('x-should-retry'), 'false', path);
      const error = reply.json()['error'] as Record<string, unknown>;
      assert.ok([error['code'], error['type'], error['status']].includes(code), `${path}: ${reply.text}`);
    }
    assert.equal(at.upstream.requests.length, 0);
  });

  it('is requested only once by the SDKs', async () => {
    const key = await spent('sdk');
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: key });
    const anthropic = new Anthropic({ baseURL: at.gateway.url, apiKey: key });
    const rows = async () => (await at.gateway.entries()).filter(({ status }) => status === 402).length;
    await settledRows(at.gateway);
    const before = await rows();
    await assert.rejects(openai.chat.completions.create({ model: 'up/m-1', messages: hi }), OpenAI.APIError);
    await assert.rejects(
      anthropic.messages.create({ model: 'up/m-1', max_tokens: 9, messages: hi }),
      Anthropic.APIError,
    );
    await waitFor('both in the ledger', async () => (await rows()) === before + 2);
  });
});

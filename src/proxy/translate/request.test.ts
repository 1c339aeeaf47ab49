import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Target } from '../../combos/routing/resolve.ts';
import { GatewayError } from '../../lib/error.ts';
import { openaiCompatible } from '../../providers/openai-compatible.ts';
import { translateRequest } from './request.ts';

function targetOf(format: Target['format']): Target {
  const connection = { name: 'test' } as Target['connection'];
  return { connection, provider: openaiCompatible, model: 'target-model', format };
}

describe('a request to translate', () => {
  it('gets a 400 if it is nested too deep to be written again', () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const call = `{"type":"tool_use","id":"a","name":"b","input":${deep}}`;
    const body = `{"model":"m","messages":[{"role":"assistant","content":[${call}]}]}`;
    assert.throws(
      () =>
        translateRequest(
          { body: [Buffer.from(body)], named: null, target: targetOf('openai-chat') },
          'anthropic-messages',
        ),
      (error) => error instanceof GatewayError && error.status === 400 && /nested/.test(error.message),
    );
  });
});

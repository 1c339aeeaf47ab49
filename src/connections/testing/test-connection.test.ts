import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { noTokens } from '../../../test/support/management/tokens.ts';
import { connectionWith } from '../../../test/support/routing/connection.ts';
import { json, type Step } from '../../../test/support/upstream/steps.ts';
import { startUpstream } from '../../../test/support/upstream/upstream.ts';
import { findProvider } from '../../providers/index.ts';
import { testConnection } from './test-connection.ts';

const noList = json(404, { error: { message: 'No such route' } });
const answered = json(200, { choices: [] });

/** A test of a provider of the data set, whose list of models nobody has documented. */
async function tested(
  test: TestContext,
  answers: readonly Step[],
  options: { defaultModel: string | null; mayAskModel: boolean },
) {
  const upstream = await startUpstream();
  test.after(() => upstream.close());
  upstream.script(...answers.map((answer) => [answer]));
  const provider = findProvider('stepfun');
  assert.ok(provider);
  const { defaultModel, mayAskModel } = options;
  const connection = connectionWith({ provider: provider.id, baseUrl: upstream.url, defaultModel });
  const result = await testConnection(connection, provider, {
    timeoutMs: 5000,
    tokens: noTokens,
    mayAskModel,
  });
  return { result, requests: upstream.requests.map(({ method, path }) => `${method} ${path}`) };
}

describe('a connection whose upstream serves no list of models', () => {
  const model = { defaultModel: 'step-3.5-flash', mayAskModel: true };

  it('is tested with one token of its default model', async (test) => {
    const { requests, result } = await tested(test, [noList, answered], model);
    assert.deepEqual([result.valid, result.models], [true, null]);
    assert.deepEqual(requests, ['GET /v1/models', 'POST /v1/chat/completions']);
  });

  it('says what the model’s answer was, when that fails too', async (test) => {
    const { result } = await tested(test, [noList, json(401, { error: { message: 'Wrong key' } })], model);
    assert.deepEqual([result.valid, result.statusCode], [false, 401]);
  });

  it('costs no token when nobody asked for a test, or names no model', async (test) => {
    for (const options of [
      { ...model, mayAskModel: false },
      { ...model, defaultModel: null },
    ]) {
      const { requests, result } = await tested(test, [noList, answered], options);
      assert.deepEqual([result.valid, result.statusCode, requests.length], [false, 404, 1]);
    }
  });

  it('is not asked twice when the list already shows what is wrong', async (test) => {
    const { requests, result } = await tested(test, [json(401, { error: { message: 'Wrong key' } })], model);
    assert.deepEqual([result.statusCode, requests.length], [401, 1]);
  });
});

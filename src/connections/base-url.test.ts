import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProvider } from '../providers/index.ts';
import { newConnectionOf } from './checked-input.ts';

const add = (input: Omit<Parameters<typeof newConnectionOf>[0], 'api_key'>) =>
  newConnectionOf({ api_key: 'secret', ...input }, () => null).baseUrl;

test('an address is made of the parameters that are given for it', () => {
  assert.equal(
    add({ provider: 'cloudflare-workers-ai', base_url_parameters: { account_id: 'a1' } }),
    'https://api.cloudflare.com/client/v4/accounts/a1/ai',
  );
  assert.equal(
    add({ provider: 'azure-openai', base_url_parameters: { resource: 'my-resource' } }),
    'https://my-resource.openai.azure.com',
  );
  assert.equal(
    add({ provider: 'databricks', base_url_parameters: { host: 'dbc-1.cloud.databricks.com' } }),
    'https://dbc-1.cloud.databricks.com/ai-gateway/mlflow',
  );
});

test('what would lead elsewhere is refused, and the message does not repeat it', () => {
  for (const host of ['evil.example/x', 'https://h', 'a b', '', '..', 'user@host', 'h#', 'h?', '%2e', '-'])
    assert.throws(
      () => add({ provider: 'databricks', base_url_parameters: { host } }),
      (error: Error) =>
        /host is not a plain name/.test(error.message) && (host.length < 4 || !error.message.includes(host)),
      host,
    );
});

test('a missing, unknown or needless parameter is named', () => {
  const refused = (input: Parameters<typeof add>[0], reason: RegExp) =>
    assert.throws(() => add(input), reason);
  refused({ provider: 'databricks' }, /name it with base_url, or host with base_url_parameters/);
  refused({ provider: 'databricks', base_url_parameters: {} }, /needs host/);
  refused({ provider: 'databricks', base_url_parameters: { host: 'h', port: '1' } }, /has host, and no port/);
  refused({ provider: 'openai', base_url_parameters: { host: 'h' } }, /has no parameters/);
  refused(
    { provider: 'databricks', base_url: 'https://h', base_url_parameters: { host: 'h' } },
    /base_url or base_url_parameters, not both/,
  );
});

test('an address given whole wins over the pattern', () => {
  assert.equal(findProvider('databricks')?.baseUrl, null);
  assert.equal(add({ provider: 'databricks', base_url: 'https://proxy.example' }), 'https://proxy.example');
});

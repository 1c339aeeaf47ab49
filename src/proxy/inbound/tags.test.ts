import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Principal } from '../../access/authenticate.ts';
import { loadConfig, type TagRule } from '../../config.ts';
import { requestTags, type Tagged } from './tags.ts';

const principal: Principal = { keyId: 'k', name: 'ci-builds', models: null, tags: ['env=ci', 'team=core'] };

function tagged(headers: Record<string, string> = {}, patch: Partial<Tagged> = {}): Tagged {
  const exchange = { path: '/v1/messages', request: { headers } } as unknown as Tagged['exchange'];
  return { exchange, principal, requestedModel: 'openai/gpt-5', ...patch };
}

const tagsOf = (header: string) => requestTags([], tagged({ 'x-gateway-tags': header }));

describe('the tags of a request', () => {
  it('are those of its key, and those of its header where the key says nothing of them', () => {
    assert.equal(requestTags([], tagged()), principal.tags);
    assert.deepEqual(tagsOf('app=review, batch,team=mine'), ['env=ci', 'team=core', 'app=review', 'batch']);
    assert.deepEqual(tagsOf(''), principal.tags);
  });

  it('are refused with a reason where the header is none', () => {
    const bad = ['a=b=,', 'a,a=b', 'two words', 'a=é', 'x'.repeat(2_001), 'a=', '-', `n=${'x'.repeat(199)}`];
    const many = Array.from({ length: 17 }, (_, index) => `t${index}`).join(',');
    for (const header of [many, ...bad.slice(1)])
      assert.throws(
        () => tagsOf(header),
        { code: 'invalid_request', param: 'x-gateway-tags', status: 400 },
        header,
      );
  });

  it('come from rules about the client, the key, the model and the path, all of which have to fit', () => {
    const rules: TagRule[] = [
      { when: { client: 'claude-cli/*' }, tags: ['app=claude-code'] },
      { when: { model: 'openai/*', key: 'ci-*' }, tags: ['app=other', 'kind=build'] },
      { when: { path: '*/embeddings' }, tags: ['kind=index'] },
      { when: { key: 'somebody' }, tags: ['never'] },
    ];
    const client = { 'user-agent': 'Claude-CLI/2.1 (external)' };
    const embeds = { exchange: { path: '/v1/embeddings', request: { headers: {} } } as never };
    assert.deepEqual(requestTags(rules, tagged(client)).slice(2), ['app=claude-code', 'kind=build']);
    assert.deepEqual(requestTags(rules, tagged({}, embeds)).slice(2), ['app=other', 'kind=build']);
    const elsewhere = { ...embeds, requestedModel: 'demo/echo' };
    assert.deepEqual(requestTags(rules, tagged({}, elsewhere)).slice(2), ['kind=index']);
    const header = { 'x-gateway-tags': 'kind=mine,mine', ...client };
    assert.deepEqual(requestTags(rules, tagged(header)).slice(2), ['app=claude-code', 'kind=build', 'mine']);
  });

  it('have rules that are checked when the gateway starts', () => {
    const load = (rule: unknown) => loadConfig({ env: { HOME: '/tmp' }, file: { tag_rules: [rule] } });
    assert.equal(load({ when: { model: 'a' }, tags: ['x=1'] }).tagRules.length, 1);
    for (const rule of [
      { when: {}, tags: ['x'] },
      { when: { model: 'a' }, tags: [] },
      { when: { model: 'a' }, tags: ['two words'] },
      { when: { user: 'a' }, tags: ['x'] },
    ])
      assert.throws(() => load(rule), { code: 'invalid_request' }, JSON.stringify(rule));
  });
});

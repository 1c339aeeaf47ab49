import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stub } from '../../../test/support/machine/stub.ts';
import type { Principal } from '../../access/authenticate.ts';
import { type HeaderTags, loadConfig, type TagRule } from '../../config.ts';
import { requestTags, type TaggedRequest } from './tags.ts';

const principal: Principal = { keyId: 'k', name: 'ci-builds', models: null, tags: ['env=ci', 'team=core'] };

function tagged(headers: Record<string, string> = {}, patch: Partial<TaggedRequest> = {}): TaggedRequest {
  const exchange = stub<TaggedRequest['exchange']>({ path: '/v1/messages', request: { headers } });
  return { exchange, principal, requestedModel: 'openai/gpt-5', ...patch };
}

const open: HeaderTags = { names: null, trustedKeys: [] };
const under = (tagRules: TagRule[] = [], headerTags = open) => ({ tagRules, headerTags });
const tagsOf = (header: string) => requestTags(under(), tagged({ 'x-gateway-tags': header }));

describe('the tags of a request', () => {
  it('are those of its key, and those of its header that the key does not set', () => {
    assert.equal(requestTags(under(), tagged()), principal.tags);
    assert.deepEqual(tagsOf('app=review, batch,team=mine'), ['env=ci', 'team=core', 'app=review', 'batch']);
    assert.deepEqual(tagsOf(''), principal.tags);
  });

  it('are refused with a reason if the header is invalid', () => {
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
    assert.deepEqual(requestTags(under(rules), tagged(client)).slice(2), ['app=claude-code', 'kind=build']);
    assert.deepEqual(requestTags(under(rules), tagged({}, embeds)).slice(2), ['app=other', 'kind=build']);
    const elsewhere = { ...embeds, requestedModel: 'demo/echo' };
    assert.deepEqual(requestTags(under(rules), tagged({}, elsewhere)).slice(2), ['kind=index']);
    const plain = { ...tagged(client), principal: { ...principal, name: 'ci-2', tags: [] } };
    const twice: TagRule[] = [...rules, { when: { key: 'ci-*' }, tags: ['app=late', 'batch'] }];
    assert.deepEqual(requestTags(under(twice), plain), ['app=claude-code', 'kind=build', 'batch']);
    const header = { 'x-gateway-tags': 'kind=mine,mine', ...client };
    assert.deepEqual(requestTags(under(rules), tagged(header)).slice(2), [
      'app=claude-code',
      'kind=build',
      'mine',
    ]);
  });

  it('that decide whose budget counts are not taken from a header, unless that is allowed', () => {
    const plain: Principal = { keyId: 'p', name: 'portal-1', models: null };
    const sent = (header: string, headerTags: Partial<HeaderTags> = {}) =>
      requestTags(
        under([], { ...open, ...headerTags }),
        tagged({ 'x-gateway-tags': header }, { principal: plain }),
      );
    const refused = { code: 'invalid_request', param: 'x-gateway-tags' };
    assert.deepEqual(sent('app=x,ticket=4'), ['app=x', 'ticket=4']);
    for (const header of ['team=core', 'app=x,owner=ann', 'team'])
      assert.throws(() => sent(header), refused, header);
    assert.throws(() => sent('team=core'), /"team", which this key may not set/);

    const names = ['ticket', 'app-*'];
    assert.deepEqual(sent('app-x=1,ticket=2', { names }), ['app-x=1', 'ticket=2']);
    for (const header of ['team=core', 'app=1', 'tickets=1'])
      assert.throws(() => sent(header, { names }), refused, header);
    assert.throws(() => sent('app=1', { names: [] }), refused);
    assert.deepEqual(sent('team=core', { names: ['*'] }), ['team=core']);

    assert.deepEqual(sent('team=core', { names: [], trustedKeys: ['portal-*'] }), ['team=core']);
    assert.throws(() => sent('team=core', { trustedKeys: ['portal'] }), refused);
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

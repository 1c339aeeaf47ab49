import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../support/gateway.ts';
import { firstResult, managed, refused } from '../support/management.ts';

const at = managed();
const yaml = `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers: [{ref: {unique_id: 'a"b', kind: log}}]
router_rules:
  routers: [{source_id: gw, trigger_id: 'a"b', channel_id: main}]
`;

describe('GET /metrics', () => {
  const metrics = async () => (await at.call('GET', '/metrics')).text;

  it('counts requests and events in the text format of Prometheus', async () => {
    const put = await at.call('PUT', '/api/events/config', {
      token: at.admin.token,
      body: yaml,
      headers: { 'if-match': '*' },
    });
    assert.equal(put.status, 200, put.text);
    const body = { model: 'demo/echo', messages: [{ role: 'user', content: 'a secret of mine' }] };
    await at.gateway.ask('/v1/chat/completions', body);
    await waitFor('the delivered event', async () =>
      /^modelgate_events_delivered_total\{trigger="a\\"b"\} [1-9]/m.test(await metrics()),
    );
    const reply = await at.call('GET', '/metrics');
    assert.match(reply.header('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(reply.text, /^modelgate_requests_total\{provider="demo",outcome="ok"\} 1$/m);
    assert.match(reply.text, /^modelgate_events_config_version 1$/m);
    for (const line of reply.text.trimEnd().split('\n'))
      assert.match(
        line,
        /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="[^\n]*",?)+\})? -?\d+(\.\d+)?(e-?\d+)?)$/,
      );
    assert.doesNotMatch(reply.text, /secret/);
  });

  it('needs no login on this machine, and a permission behind a proxy', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    refused(await at.call('GET', '/metrics', { headers }), 401);
    const made = await at.call('POST', '/api/tokens', {
      token: at.admin.token,
      body: { name: 'prometheus', scopes: ['metrics:read'] },
    });
    const token = String(firstResult(made)['token']);
    assert.equal((await at.call('GET', '/metrics', { headers, token })).status, 200);
    const other = await at.call('POST', '/api/tokens', {
      token: at.admin.token,
      body: { name: 'other', scopes: ['usage:read'] },
    });
    const narrow = String(firstResult(other)['token']);
    refused(await at.call('GET', '/metrics', { headers, token: narrow }), 403, 'forbidden');
    refused(await at.call('GET', '/metrics', { host: 'evil.example' }), 403);
    refused(await at.call('POST', '/metrics'), 405);
  });
});

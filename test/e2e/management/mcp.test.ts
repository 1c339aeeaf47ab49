import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { childEnv } from '../../support/gateway/child-env.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { program } from '../../support/gateway/program.ts';
import { challenged, firstResult, managed, refused } from '../../support/management/management.ts';

const info = { name: 'test', version: '1.0.0' };
/** `legacy` begins with `initialize`, as clients up to 2025-11 do; `auto` speaks the revision of 2026-07-28. */
const eras = ['legacy', 'auto'] as const;
const reading = [
  'health',
  'list_models',
  'recent_requests',
  'explain_request',
  'costs',
  'list_combos',
  'list_budgets',
  'list_keys',
  'quota',
  'tool_status',
  'events_tail',
];
const changing = ['switch_combo', 'set_budget', 'create_key'];

/** What a tool answered, as the assistant reads it. */
async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { content, isError = false, structuredContent } = await client.callTool({ name, arguments: given });
  const [first] = content as { type: string; text: string }[];
  assert.ok(first);
  if (!isError) assert.deepEqual(JSON.parse(first.text), structuredContent);
  return { isError, text: first.text, body: (structuredContent ?? {}) as Record<string, unknown> };
}

async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe('the MCP server', () => {
  const at = managed();
  const opened: Client[] = [];
  after(async () => {
    for (const client of opened) await client.close();
  });

  const connected = async (
    transport: StreamableHTTPClientTransport | StdioClientTransport,
    mode: (typeof eras)[number],
  ) => {
    const client = new Client(info, { versionNegotiation: { mode } });
    opened.push(client);
    await client.connect(transport);
    return client;
  };
  const overHttp = (token: string, mode: (typeof eras)[number] = 'legacy') => {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', at.gateway.url), { requestInit });
    return connected(transport, mode);
  };
  const overStdio = (mode: (typeof eras)[number], dataDir = at.gateway.dataDir, ...flags: string[]) => {
    const env = childEnv({ HOME: at.gateway.home, DATA_DIR: dataDir });
    const args = [program, ...(flags.length === 0 ? ['--mcp'] : flags)];
    return connected(
      new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }),
      mode,
    );
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    at.call('POST', '/mcp', {
      token: at.admin.token,
      body,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
    });

  for (const mode of eras)
    for (const transport of ['http', 'stdio'] as const)
      it(`serves the official client over ${transport}, which connects in its mode "${mode}"`, async () => {
        const client = transport === 'http' ? await overHttp(at.ownerKey(), mode) : await overStdio(mode);
        assert.deepEqual((await namesOf(client)).sort(), [...reading, ...changing].sort());
        const { body } = await call(client, 'list_models', { search: 'echo' });
        assert.deepEqual(
          (body['models'] as { id: string }[]).map(({ id }) => id),
          ['demo/echo'],
        );
        const { resources } = await client.listResources();
        for (const { uri } of resources) {
          const [read] = (await client.readResource({ uri })).contents;
          assert.ok(read && 'text' in read && JSON.parse(read.text));
        }
        const { prompts } = await client.listPrompts();
        assert.deepEqual(
          prompts.map(({ name }) => name),
          ['review_costs', 'diagnose_failures'],
        );
        const prompt = await client.getPrompt({ name: 'review_costs', arguments: { days: '3' } });
        assert.match(JSON.stringify(prompt.messages), /last 3 days/);
      });

  it('explains a request, and says what was spent', async () => {
    const reply = await at.gateway.ask('/v1/chat/completions', {
      model: 'demo/echo',
      messages: [{ role: 'user', content: 'hello' }],
    });
    const id = reply.header('x-request-id');
    await at.gateway.entry(id);
    const client = await overHttp(at.admin.token);
    const { body } = await call(client, 'explain_request', { id });
    assert.equal(body['id'], id);
    assert.equal((body['trace'] as { requested: string }).requested, 'demo/echo');
    const recent = await call(client, 'recent_requests', { outcome: 'ok', limit: 1 });
    assert.equal((recent.body['requests'] as { id: string }[])[0]?.id, id);
    const costs = await call(client, 'costs', { by: ['model'] });
    assert.equal((costs.body['sum'] as { requests: number }).requests, 1);
    const { contents } = await client.readResource({ uri: `modelgate://requests/${id}` });
    assert.match(JSON.stringify(contents), new RegExp(String(id)));
    const missing = await call(client, 'explain_request', { id: 'req_nothing' });
    assert.ok(missing.isError);
    assert.match(missing.text, /^not_found: /);
  });

  it('waits for events over either transport, and no longer than it was told', async () => {
    const config = `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers: [{ref: {unique_id: hook, kind: http, name: "http://127.0.0.1:9/"}}]
router_rules:
  routers: [{source_id: gw, trigger_id: hook, channel_id: main, filter: {cesql: "FALSE"}}]
`;
    const headers = { 'if-match': '*' };
    const put = await at.call('PUT', '/api/events/config', { token: at.admin.token, body: config, headers });
    assert.equal(put.status, 200, put.text);
    for (const client of [await overHttp(at.admin.token), await overStdio('legacy')]) {
      const watching = call(client, 'events_tail', {
        cesql: "type LIKE '%request.completed%'",
        limit: 1,
        seconds: 30,
      });
      let ended = false;
      void watching.finally(() => {
        ended = true;
      });
      // When it began to listen cannot be seen from outside, so requests go on until it has one.
      await waitFor('an event was seen', async () => {
        await at.gateway.ask('/v1/chat/completions', {
          model: 'demo/echo',
          messages: [{ role: 'user', content: 'hello' }],
        });
        return ended;
      });
      const { body, text } = await watching;
      assert.equal((body['events'] as unknown[]).length, 1, text);
      assert.match(text, /"specversion":"1.0"/);
      const none = await call(client, 'events_tail', { cesql: "type = 'nothing'", seconds: 1 });
      assert.deepEqual(none.body['events'], []);
      assert.ok((await call(client, 'events_tail', { cesql: 'type = = 1' })).isError);
    }
  });

  it('changes the gateway as the API does: with permission, and in the audit log', async () => {
    await at.gateway.cli('combo', 'create', 'smart', '--target', 'demo/echo');
    const client = await overHttp(at.admin.token);
    const made = await call(client, 'create_key', { name: 'from-assistant', budget_usd: 2, rpm: 5 });
    assert.match(String(made.body['key']), /^sk-/);
    assert.deepEqual([made.body['budget_usd'], made.body['rpm']], [2, 5]);
    const keys = await call(client, 'list_keys');
    assert.ok(keys.text.includes('from-assistant') && !keys.text.includes(String(made.body['key'])));
    const combos = await call(client, 'list_combos');
    assert.match(combos.text, /"smart"/);
    await call(client, 'switch_combo', { combo: 'smart' });
    assert.match((await call(client, 'list_combos')).text, /"active":true/);
    for (const limit of [3, 4]) await call(client, 'set_budget', { limit, period: 'day' });
    const budgets = (await call(client, 'list_budgets')).body['budgets'] as Record<string, unknown>[];
    const days = budgets.filter(({ scope }) => scope === 'global');
    assert.deepEqual(
      days.map(({ limit, period }) => [limit, period]),
      [[4, 'day']],
    );
    const audit = await at.call('GET', '/api/audit?expand=resources', { token: at.admin.token });
    for (const action of ['keys.create', 'combos.activate', 'budgets.create', 'budgets.edit'])
      assert.ok(audit.text.includes(`"${action}"`), action);
    assert.ok(!audit.text.includes(String(made.body['key'])));
  });

  it('offers each person what they may do, and does nothing else', async () => {
    const viewer = await at.person('watcher', 'viewer');
    const client = await overHttp(viewer.token);
    const names = await namesOf(client);
    assert.ok(names.includes('costs') && !names.includes('list_keys') && !names.includes('recent_requests'));
    for (const name of changing) {
      assert.ok(!names.includes(name), name);
      const { isError, text } = await call(client, name).catch((error: Error) => ({
        isError: true,
        text: error.message,
      }));
      assert.ok(isError && /not found|not_found|Unknown/i.test(text), text);
    }
    const byKey = await call(client, 'costs', { by: ['key'] });
    assert.match(byKey.text, /^forbidden: /);
    const body = { action: 'create', resource: { name: 'reader', scopes: ['usage:read'] } };
    const made = await at.call('POST', '/api/tokens', { token: at.admin.token, body });
    const narrow = await overHttp(String(firstResult(made)['token']));
    assert.deepEqual(await namesOf(narrow), ['costs']);
  });

  it('reads and changes nothing with --read-only', async () => {
    const client = await overStdio('legacy', at.gateway.dataDir, 'mcp', 'serve', '--read-only');
    assert.deepEqual((await namesOf(client)).sort(), [...reading].sort());
  });

  it('says over stdio that no gateway runs', async () => {
    const client = await overStdio('legacy', join(at.gateway.home, 'nothing-here'));
    const { isError, text } = await call(client, 'health');
    assert.ok(isError);
    assert.match(text, /^gateway_not_running: .*`gateway serve`/);
  });

  it('lets nobody in without a login, and no page of another origin', async () => {
    challenged(await at.call('POST', '/mcp', { body: {} }));
    challenged(await at.call('GET', '/mcp'));
    challenged(await at.call('POST', '/mcp', { body: {}, token: at.gateway.key }));
    for (const method of ['GET', 'POST', 'DELETE'])
      refused(
        await at.call(method, '/mcp', { token: at.admin.token, headers: { origin: 'https://evil.example' } }),
        403,
      );
    refused(await at.call('POST', '/mcp', { token: at.admin.token, body: {}, host: 'evil.example' }), 403);
    const listed = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { origin: at.gateway.url });
    assert.equal(listed.status, 200, listed.text);
  });

  it('answers hostile input with errors of the protocol', async () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const calls: [unknown, number][] = [
      ['', 400],
      ['{', 400],
      ['"tools/list"', 400],
      ['null', 400],
      [nested, 400],
      [Array.from({ length: 1000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })), 400],
      ['x'.repeat(1_048_577), 413],
      [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }, 400],
      [{ jsonrpc: '2.0', id: {}, method: 'tools/list' }, 400],
    ];
    for (const [body, status] of calls) {
      const reply = await post(body);
      assert.equal(reply.status, status, `${String(body).slice(0, 60)}: ${reply.text}`);
      assert.equal(typeof (reply.json()['error'] as { code: number }).code, 'number');
    }
    assert.equal(
      (await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { accept: 'text/html' })).status,
      406,
    );
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await at.call(method, '/mcp', { token: at.admin.token });
      assert.deepEqual([reply.status, reply.header('allow')], [405, 'POST']);
    }
    const client = await overHttp(at.admin.token);
    for (const [name, given] of [
      ['recent_requests', { limit: -1 }],
      ['recent_requests', { model: "x' or id!='" }],
      ['create_key', { name: '' }],
      ['explain_request', { id: '../keys' }],
      ['switch_combo', { combo: '..%2fkeys', __proto__: { action: 'delete' } }],
    ] as const) {
      const { isError, text } = await call(client, name, given);
      assert.ok(isError || text.includes('"total":0'), `${name}: ${text}`);
      assert.doesNotMatch(text, /\bat \/|node:internal|\.ts:\d/);
    }
  });

  it('is a service that stops, restarts and is measured', async () => {
    const service = async () => (await at.call('GET', '/api/services/mcp', { token: at.admin.token })).json();
    const act = (action: string) =>
      at.call('POST', '/api/services/mcp', { token: at.admin.token, body: { action } });
    const tested = await act('test');
    assert.equal(tested.json()['success'], true, tested.text);
    assert.match(String(tested.json()['message']), /answers itself, with \d+ tools/);
    await call(await overHttp(at.admin.token), 'health');
    const { health, state } = await service();
    assert.equal(state, 'running');
    const checks = (health as { checks: { name: string; output: string }[] }).checks;
    assert.match(checks.find(({ name }) => name === 'calls')?.output ?? '', /^[1-9]\d* since the start, 0 /);
    assert.equal((await act('stop')).json()['success'], true);
    const stopped = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    refused(stopped, 503);
    assert.equal(stopped.json()['code'], 'service_stopped');
    assert.ok(Number(stopped.header('retry-after')) > 0);
    assert.equal((await at.gateway.cli('mcp', 'status')).code, 1);
    const restarted = await at.gateway.cliJson('mcp', 'restart');
    assert.equal(restarted['restarted'], true);
    const status = await at.gateway.cliJson('mcp', 'status');
    assert.deepEqual([status['state'], status['url']], ['running', `${at.gateway.url}/mcp`]);
    assert.equal((await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).status, 200);
  });
});

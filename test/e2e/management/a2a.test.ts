import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Role, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { challenged, firstResult, managed, refused } from '../../support/management/management.ts';

interface Part {
  kind?: string;
  text?: string;
}

interface Answered {
  id: string;
  contextId: string;
  status: { state: string; message?: { parts: Part[] } };
  artifacts?: { parts: Part[] }[];
}

const textOf = (parts: readonly Part[] = []) => parts.map(({ text = '' }) => text).join('');

describe('the A2A server', () => {
  const at = managed();
  /** A request as clients of 0.3 send it. */
  const rpc = async (method: string, params: object, headers: Record<string, string>) => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    return at.call('POST', '/a2a', { body, headers: { 'content-type': 'application/json', ...headers } });
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const message = (text: string, more: object = {}) => ({
    message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text }], ...more },
  });
  const sent = async (
    text: string,
    headers: Record<string, string>,
    more: object = {},
  ): Promise<Answered> => {
    const reply = await rpc('message/send', message(text, more), headers);
    assert.equal(reply.status, 200, reply.text);
    const { error, result } = reply.json() as { error?: unknown; result?: Answered };
    assert.ok(result, JSON.stringify(error));
    return result;
  };
  const answerOf = ({ artifacts }: Answered) => textOf(artifacts?.[0]?.parts);

  it('serves the official client of version 1.0: its card, messages and streams', async () => {
    const fetchImpl: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${at.gateway.key}`);
      return fetch(url, { ...init, headers });
    };
    const factory = new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [new JsonRpcTransportFactory({ fetchImpl })],
      }),
    );
    const client = await factory.createFromUrl(at.gateway.url);
    const request = {
      tenant: '',
      configuration: undefined,
      metadata: undefined,
      message: {
        messageId: 'm1',
        contextId: '',
        taskId: '',
        role: Role.ROLE_USER,
        parts: [
          {
            content: { $case: 'text' as const, value: 'hello' },
            metadata: undefined,
            filename: '',
            mediaType: '',
          },
        ],
        metadata: { model: 'demo/echo' },
        extensions: [],
        referenceTaskIds: [],
      },
    };
    const answer = await client.sendMessage(request);
    assert.ok('artifacts' in answer);
    assert.equal(answer.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.match(JSON.stringify(answer.artifacts), /said: .*hello/);
    const kinds: (string | undefined)[] = [];
    for await (const event of client.sendMessageStream(request))
      kinds.push((event as StreamResponse).payload?.$case);
    assert.deepEqual([...new Set(kinds)], ['task', 'statusUpdate', 'artifactUpdate']);
    assert.equal(kinds.at(-1), 'statusUpdate');
  });

  it('asks a model as the gateway key may, once in the ledger, and continues a context', async () => {
    const first = await sent('hello', bearer(at.gateway.key), { metadata: { model: 'demo/echo' } });
    assert.equal(first.status.state, 'completed');
    assert.match(answerOf(first), /hello$/);
    const made = await at.call('POST', '/api/keys', {
      token: at.admin.token,
      body: { name: 'narrow', models: ['nothing/*'] },
    });
    const refusedTask = await sent('hello', bearer(String(firstResult(made)['key'])), {
      metadata: { model: 'demo/echo' },
    });
    assert.equal(refusedTask.status.state, 'failed');
    assert.match(textOf(refusedTask.status.message?.parts), /narrow|may not|not allowed|no model/i);
    const got = await rpc('tasks/get', { id: first.id }, bearer(at.gateway.key));
    assert.equal((got.json()['result'] as Answered).id, first.id);
    const foreign = await rpc('tasks/get', { id: first.id }, bearer(at.admin.token));
    assert.ok(foreign.json()['error'], 'nobody else sees the task');
  });

  it('explains a request and reports, for a login', async () => {
    const reply = await at.gateway.ask('/v1/chat/completions', {
      model: 'demo/echo',
      messages: [{ role: 'user', content: 'hello' }],
    });
    const id = String(reply.header('x-request-id'));
    await at.gateway.entry(id);
    const explained = await sent(`Why did ${id} go there?`, bearer(at.admin.token));
    assert.match(answerOf(explained), new RegExp(`^${id} asked for "demo/echo" and ended ok`));
    const report = await sent('How are we doing?', bearer(at.admin.token), { metadata: { days: 1 } });
    assert.match(answerOf(report), /^Last day: [1-9]\d* requests, \d+ failed/);
    const viewer = await at.person('vic', 'viewer');
    const denied = await sent(`Why did ${id} go there?`, bearer(viewer.token));
    assert.match(textOf(denied.status.message?.parts), /^forbidden: .*requests:read/);
    const both = { 'x-api-key': at.gateway.key, 'x-auth-token': at.admin.token };
    const asked = await sent('report, please', both, { metadata: { skill: 'report' } });
    assert.match(answerOf(asked), /^Last 7 days/);
    const wrong = await sent('report', bearer(at.admin.token), { metadata: { days: 'all' } });
    assert.match(textOf(wrong.status.message?.parts), /metadata.days/);
  });

  it('shows its card to everybody who may speak to the gateway, with the address that they used', async () => {
    const reply = await at.call('GET', '/.well-known/agent-card.json');
    assert.equal(reply.status, 200, reply.text);
    const card = reply.json();
    assert.equal(card['url'], `${at.gateway.url}/a2a`);
    const skills = (card['skills'] as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(skills, ['ask-a-model', 'explain', 'report']);
    const behindProxy = await at.call('GET', '/.well-known/agent-card.json', {
      host: 'localhost',
      headers: { 'x-forwarded-proto': 'https' },
    });
    assert.equal(behindProxy.json()['url'], 'https://localhost/a2a');
    refused(await at.call('GET', '/.well-known/agent-card.json', { host: 'evil.example' }), 403);
    refused(await at.call('POST', '/.well-known/agent-card.json', { body: {} }), 405);
    assert.deepEqual(await at.gateway.cliJson('a2a', 'card'), card);
  });

  it('lets nobody in without a key or a login, and no page of another origin', async () => {
    challenged(await at.call('POST', '/a2a', { body: {} }));
    challenged(await rpc('message/send', message('hi'), bearer('sk-nothing')));
    for (const headers of [bearer(at.gateway.key), bearer(at.admin.token)])
      refused(await rpc('message/send', message('hi'), { ...headers, origin: 'https://evil.example' }), 403);
    refused(await at.call('GET', '/a2a', { token: at.admin.token }), 405);
  });

  it('answers hostile input with errors of the protocol', async () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    for (const body of ['', '{', 'null', '[]', nested, 'x'.repeat(70_000)]) {
      const reply = await at.call('POST', '/a2a', { body, headers: bearer(at.gateway.key) });
      assert.ok([400, 413].includes(reply.status), `${body.slice(0, 20)}: ${reply.status} ${reply.text}`);
    }
    for (const params of [{}, { message: null }, { message: { parts: 'x' } }, message('', { parts: [] })]) {
      const reply = await rpc('message/send', params, bearer(at.gateway.key));
      assert.equal(reply.status, 200, reply.text);
      const { error, result } = reply.json() as { error?: { code: number }; result?: Answered };
      assert.ok(error !== undefined || result?.status.state === 'failed', reply.text);
      assert.doesNotMatch(reply.text, /\bat \/|node:internal|\.ts:\d/);
    }
    const unknown = await rpc('tasks/burn', {}, bearer(at.gateway.key));
    assert.ok((unknown.json()['error'] as { code: number }).code < 0);
    const version = await rpc('message/send', message('hi'), {
      ...bearer(at.gateway.key),
      'a2a-version': '9.9',
    });
    assert.ok(version.json()['error'], version.text);
  });

  it('is a service that stops, restarts and is measured', async () => {
    const act = (action: string) =>
      at.call('POST', '/api/services/a2a', { token: at.admin.token, body: { action } });
    assert.match(String((await act('test')).json()['message']), /card has 3 skills/);
    assert.equal((await act('stop')).json()['success'], true);
    refused(await rpc('message/send', message('hi'), bearer(at.gateway.key)), 503);
    refused(await at.call('GET', '/.well-known/agent-card.json'), 503);
    assert.equal((await at.gateway.cli('a2a', 'status')).code, 1);
    assert.equal((await at.gateway.cliJson('a2a', 'restart'))['restarted'], true);
    const status = await at.gateway.cliJson('a2a', 'status');
    assert.deepEqual([status['state'], status['url']], ['running', `${at.gateway.url}/a2a`]);
    assert.match(JSON.stringify(status['health']), /[1-9]\d* since the start, 0 ended by a fault/);
  });
});

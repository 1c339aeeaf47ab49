import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { type ReceiverAnswer, startHttpReceiver } from '../../../test/support/servers/http-receiver.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { createConsentCallbacks } from './consent-callbacks.ts';
import { webhookKey } from './signature.ts';
import { createWebhook, type WebhookInput } from './webhook.ts';

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const event: CloudEvent = {
  attributes: {
    specversion: '1.0',
    id: '1',
    source: '/test',
    type: 't',
    datacontenttype: 'application/json',
  },
  data: Buffer.from('"hello"'),
};

async function setUp(test: TestContext, input: Partial<WebhookInput> = {}) {
  const consents = createConsentCallbacks();
  const receiver = await startHttpReceiver();
  const webhook = createWebhook({
    trigger: 'hook',
    url: `${receiver.url}/hook`,
    key: webhookKey(secret),
    listening: () => null,
    privateNetworks: true,
    now: Date.now,
    consents,
    ...input,
  });
  test.after(async () => {
    await webhook.close();
    await receiver.close();
  });
  const outcome = async (answer: ReceiverAnswer) => {
    receiver.answer(() => answer);
    return webhook.process(event);
  };
  return { consents, outcome, receiver, webhook };
}

describe('a webhook', () => {
  it('interprets the status of the answer', async (test) => {
    const { outcome } = await setUp(test);
    const kinds: Record<number, string> = {};
    for (const status of [
      200, 202, 204, 301, 307, 400, 401, 403, 404, 408, 409, 410, 413, 415, 422, 425, 429, 500, 503,
    ])
      kinds[status] = (await outcome({ status, headers: { location: 'http://127.0.0.1:1/' } })).kind;
    const of = (kind: string) =>
      Object.keys(kinds)
        .filter((status) => kinds[Number(status)] === kind)
        .map(Number);
    assert.deepEqual(of('done'), [200, 202, 204]);
    assert.deepEqual(of('failed'), [301, 307, 400, 401, 403, 413, 415, 422]);
    assert.deepEqual(of('retry'), [404, 408, 409, 425, 429, 500, 503]);
    assert.deepEqual(of('gone'), [410]);
  });

  it('follows no redirect', async (test) => {
    const { outcome, receiver } = await setUp(test);
    assert.equal((await outcome({ status: 302, headers: { location: '/elsewhere' } })).kind, 'failed');
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/hook'],
    );
  });

  it('waits as long as the receiver says, at most an hour', async (test) => {
    const { outcome } = await setUp(test, { now: () => Date.UTC(2026, 10, 22, 12) });
    for (const [header, afterMs] of [
      ['7', 7_000],
      ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
      ['999999', 3_600_000],
      ['soon', 0],
      ['-5', 0],
    ] as const) {
      const answer = await outcome({ status: 429, headers: { 'retry-after': header } });
      assert.equal(answer.kind === 'retry' && answer.afterMs, afterMs, header);
    }
  });

  it('signs every attempt anew, with the same id', async (test) => {
    let now = Date.now();
    const { outcome, receiver } = await setUp(test, { now: () => now });
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await outcome({ status: 503 });
      now += 60_000;
    }
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    const times = new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp']));
    assert.deepEqual([ids.size, times.size], [1, 4]);
    for (const { body, headers } of receiver.received.slice(0, 3))
      assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  });

  it('never connects to a forbidden address', async (test) => {
    for (const [url, privateNetworks] of [
      ['http://169.254.169.254/latest/meta-data', true],
      ['http://[fe80::1]/', true],
      ['http://100.100.100.200/', true],
      ['http://127.0.0.1:1/', false],
      ['http://localhost:1/', false],
      ['http://[::1]:1/', false],
      ['http://[::ffff:127.0.0.1]:1/', false],
      ['http://0.0.0.0:1/', false],
      ['http://10.1.2.3/', false],
      ['http://172.16.0.1/', false],
      ['http://192.168.1.1/', false],
      ['http://100.64.0.1/', false],
      ['http://[fd12::1]/', false],
      ['http://2130706433:1/', false],
    ] as const) {
      const { webhook } = await setUp(test, { url, privateNetworks });
      assert.deepEqual(
        await webhook.process(event),
        {
          kind: 'failed',
          reason: 'The receiver was not reached: ADDRESS_REFUSED',
          status: null,
        },
        url,
      );
    }
  });

  it('asks for consent once a day before it sends, and sends nothing without it', async (test) => {
    let now = Date.now();
    const origin = 'gateway.example.com';
    const { receiver, webhook } = await setUp(test, { origin, ratePerMinute: 600, now: () => now });
    let allowed: string | null = 'other.example.com';
    receiver.answer(({ method }) => ({
      status: method === 'OPTIONS' ? 200 : 204,
      headers: method === 'OPTIONS' && allowed !== null ? { 'webhook-allowed-origin': allowed } : {},
    }));
    const methods = () => receiver.received.splice(0).map(({ method }) => method);
    for (const answer of ['other.example.com', null]) {
      allowed = answer;
      assert.equal((await webhook.process(event)).kind, 'retry');
      const [asked, ...more] = receiver.received.splice(0);
      assert.deepEqual([asked?.method, more.length], ['OPTIONS', 0]);
      assert.equal(asked?.headers['webhook-request-origin'], origin);
      assert.equal(asked?.headers['webhook-request-rate'], '600');
    }
    allowed = origin;
    await webhook.process(event);
    await webhook.process(event);
    assert.deepEqual(methods(), ['OPTIONS', 'POST', 'POST']);
    now += 86_400_001;
    allowed = '*';
    await webhook.process(event);
    assert.deepEqual(methods(), ['OPTIONS', 'POST']);
  });

  it('waits for a receiver that consents later, and sends at the rate that it allows', async (test) => {
    const options = { origin: 'gw.example.com', callback: 'https://gw.example.com' };
    const { consents, receiver, webhook } = await setUp(test, options);
    receiver.answer(({ method }) => ({ status: method === 'OPTIONS' ? 202 : 204 }));
    const stopping = new AbortController();
    const waiting = [webhook.ready?.(stopping.signal), webhook.ready?.(stopping.signal)];
    await waitFor('the question', () => receiver.received.length > 0);
    const [asked] = receiver.received;
    const callback = new URL(String(asked?.headers['webhook-request-callback']));
    assert.equal(callback.href.startsWith('https://gw.example.com/api/events/consent?id=hook&key='), true);
    assert.equal(consents.grant('another', '*'), false);
    assert.equal(consents.grant(callback.searchParams.get('key') ?? '', '60000'), true);
    assert.deepEqual(await Promise.all(waiting), [true, true]);
    assert.equal((await webhook.process(event)).kind, 'done');
    assert.deepEqual(
      receiver.received.map(({ method }) => method),
      ['OPTIONS', 'POST'],
    );
    await webhook.close();
    assert.equal(consents.grant(callback.searchParams.get('key') ?? '', '*'), false);
  });

  it('stops waiting for consent when the engine stops, and does not wait for an unreachable receiver', async (test) => {
    const { receiver, webhook } = await setUp(test, { origin: 'gw', callback: 'http://gw.example.com' });
    receiver.answer(() => ({ status: 200 }));
    const stopping = new AbortController();
    const waiting = webhook.ready?.(stopping.signal);
    await waitFor('the question', () => receiver.received.length > 0);
    stopping.abort();
    assert.equal(await waiting, false);
    const gone = await setUp(test, {
      origin: 'gw',
      callback: 'http://gw.example.com',
      url: 'http://127.0.0.1:1/',
    });
    assert.equal(await gone.webhook.ready?.(new AbortController().signal), true);
    assert.equal((await gone.webhook.process(event)).kind, 'retry');
  });

  it('sends no faster than its rate, and stops waiting when the engine stops', async (test) => {
    const now = Date.now();
    const { receiver, webhook } = await setUp(test, { origin: 'gw', now: () => now });
    receiver.answer(() => ({
      status: 204,
      headers: { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '1' },
    }));
    await webhook.process(event);
    const stopping = new AbortController();
    assert.equal(await webhook.ready?.(stopping.signal), true);
    const waiting = webhook.ready?.(stopping.signal);
    stopping.abort();
    assert.equal(await waiting, false);
  });

  it('sends its credentials, and the event in structured mode if configured', async (test) => {
    const { outcome, receiver } = await setUp(test, { authorization: 'Bearer token', mode: 'structured' });
    await outcome({ status: 204 });
    const { body, headers } = receiver.received[0] ?? assert.fail();
    assert.equal(headers['authorization'], 'Bearer token');
    assert.match(headers['content-type'] ?? '', /^application\/cloudevents\+json/);
    assert.equal(JSON.parse(body).data, 'hello');
  });
});

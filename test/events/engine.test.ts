import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { CloudEvent } from '../../src/events/cloudevents/event.ts';
import { decodeHttp } from '../../src/events/cloudevents/http.ts';
import { type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';

/** The event engine in the running gateway: its own events, through channels, to webhooks. */

interface Received {
  path: string;
  event: CloudEvent;
  headers: Record<string, string>;
  body: string;
}

/** A receiver of webhooks. */
async function startReceiver() {
  const received: Received[] = [];
  let statusOf = (_: Received): number => 204;
  const read = async (incoming: IncomingMessage): Promise<Received> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    const decoded = decodeHttp({ headers: Object.entries(headers), body });
    assert.ok(decoded.ok, JSON.stringify(decoded));
    const [event] = decoded.value.events;
    assert.ok(event !== undefined);
    return { path: incoming.url ?? '', event, headers, body: body.toString() };
  };
  const server = createServer((incoming, response) => {
    void read(incoming).then((one) => {
      received.push(one);
      response.writeHead(statusOf(one)).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(status: (one: Received) => number) {
      statusOf = status;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const prompt = 'a prompt that stays between us';

const yaml = (url: string) => `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
    - {unique_id: failed, url: "sqlite:", mq_topic_name: failed}
  sources:
    - ref: {unique_id: gw, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook/\${HOOK_TOKEN}"}
    - ref: {unique_id: letters, kind: http, name: "${url}/letters"}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.02S}}
      dead_letter_strategy: {enable: true, channel: {unique_id: failed}}
router_rules:
  routers:
    - {source_id: gw, trigger_id: hook, channel_id: main, filter: {cesql: "type LIKE '%.completed.v1'"}}
    - {source_id: gw, trigger_id: letters, channel_id: failed, filter: {cesql: "EXISTS dlreason"}}
`;

describe('the event engine', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let gateway: RunningGateway;
  const write = (text: string) => writeFile(join(gateway.dataDir, 'events.yaml'), text);
  /** A model request, and its id. */
  const ask = async (model = 'demo/echo'): Promise<string> => {
    const body = { model, messages: [{ role: 'user', content: prompt }] };
    const reply = await gateway.ask('/v1/chat/completions', body);
    return reply.header('x-request-id') ?? '';
  };
  const of = (id: string) => receiver.received.filter(({ event }) => event.attributes.subject === id);
  const arrived = (id: string, path: string) =>
    waitFor(`the event at ${path}`, () => of(id).some((one) => one.path === path));

  before(async () => {
    receiver = await startReceiver();
    gateway = await startGateway({ env: { EVENTS_SECRET_HOOK: secret, HOOK_TOKEN: 'a b' } });
    await write(yaml(receiver.url));
    await gateway.kill();
    await gateway.restart();
  });
  after(async () => {
    await gateway?.stop();
    await receiver?.close();
  });

  it('notifies a webhook of each answered request, signed, and without its content', async () => {
    const id = await ask();
    await arrived(id, '/hook/a%20b');
    const [{ body, event, headers }] = of(id) as [Received];
    assert.equal(event.attributes.type, 'io.modelgate.request.completed.v1');
    assert.equal(event.attributes['eventsourceid'], 'gw');
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers));
    const data = JSON.parse(body);
    assert.deepEqual([data.id, data.outcome, data.status, data.provider], [id, 'ok', 200, 'demo']);
    for (const text of [prompt, gateway.key]) assert.ok(!JSON.stringify([body, headers]).includes(text));
  });

  it('delivers no event that the filter does not select', async () => {
    const failed = await ask('demo/none-such');
    const id = await ask();
    await arrived(id, '/hook/a%20b');
    assert.deepEqual(of(failed), []);
  });

  it('retries the same message until the webhook accepts it', async () => {
    let failures = 3;
    receiver.answer(() => {
      failures -= 1;
      return failures >= 0 ? 503 : 204;
    });
    const id = await ask();
    await waitFor('four attempts', () => of(id).length === 4);
    assert.equal(new Set(of(id).map(({ headers }) => headers['webhook-id'])).size, 1);
    for (const { body, headers } of of(id)) new Webhook(secret).verify(body, headers);
    receiver.answer(() => 204);
  });

  it('keeps what the webhook refuses as a dead letter', async () => {
    receiver.answer(({ path }) => (path === '/letters' ? 204 : 400));
    const id = await ask();
    await arrived(id, '/letters');
    const [first, letter, ...more] = of(id);
    assert.equal(more.length, 0);
    assert.equal(letter?.body, first?.body);
    const told = ['dlreason', 'dltrigger', 'dlattempts', 'dlstatus'].map(
      (name) => letter?.event.attributes[name],
    );
    assert.deepEqual(told, ['nonretryable', 'hook', '1', '400']);
    receiver.answer(() => 204);
  });

  it('loses no event when the process is killed, and delivers it after the next start', async () => {
    receiver.answer(() => 503);
    const asked = await Promise.all(Array.from({ length: 20 }, () => ask()));
    await waitFor('an attempt of each', () => asked.every((id) => of(id).length > 0));
    await gateway.kill();
    receiver.received.length = 0;
    receiver.answer(() => 204);
    await gateway.restart();
    await waitFor('all events', () => asked.every((id) => of(id).length > 0));
  });

  it('keeps the last valid configuration when events.yaml is wrong, and reports the problem', async () => {
    const asksForMore = yaml(receiver.url).replace(
      'PT0.02S}}',
      'PT0.02S}, concurrency_limit_strateg: {limit_mode: MODE_GLOBAL, max_concurrency: 1}}',
    );
    for (const [text, complaint] of [
      ['components: [', /events\.yaml is not valid and was not applied/],
      [asksForMore, /trigger_strategies\[0\]\.runtime_strategy\.concurrency_limit_strateg\.limit_mode/],
      [yaml(receiver.url).replace('HOOK_TOKEN', 'NOT_SET'), /environment variable NOT_SET is not set/],
    ] as const) {
      await write(text);
      await gateway.kill();
      await gateway.restart();
      await arrived(await ask(), '/hook/a%20b');
      const { stderr, stdout } = gateway.output();
      assert.match(stderr + stdout, complaint);
    }
  });
});
